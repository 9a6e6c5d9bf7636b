package node

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api"
	"parley/api/socket"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/store/storetest"
)

// TestPaymentRoutes: only the configured provider's webhook is there, and without
// payments nothing of them.
func TestPaymentRoutes(t *testing.T) {
	db := storetest.New(t)
	for payments, want := range map[string]map[string]int{
		"none":      {"/v1/topups": 404, "/hooks/simulated": 404, "/hooks/stripe": 404, "/simulated/pay/x": 404},
		"simulated": {"/v1/topups": 401, "/hooks/simulated": 400, "/hooks/stripe": 404, "/simulated/pay/x": 400},
		"stripe":    {"/v1/topups": 401, "/hooks/simulated": 404, "/hooks/stripe": 400, "/simulated/pay/x": 404},
	} {
		cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_PAYMENTS=" + payments,
			"PARLEY_STRIPE_KEY=sk_test_1", "PARLEY_STRIPE_WEBHOOK_SECRET=whsec_1", "PARLEY_BASE_URL=https://voice.example/p"}})
		if err != nil {
			t.Fatal(err)
		}
		n := &Node{cfg: cfg, db: db, log: slog.New(slog.DiscardHandler), sockets: socket.NewSet(), DataDir: t.TempDir()}
		if n.engines, err = engine.New(cfg, n.log); err != nil {
			t.Fatal(err)
		}
		if err := n.TakePayments("[::]:8080", "a master secret"); err != nil {
			t.Fatal(err)
		}
		if n.payments.Home != cfg.BaseURL || (n.payments.Simulated != nil) != (payments == "simulated") {
			t.Errorf("%s: %+v", payments, n.payments)
		}
		h := n.routes().Handler(api.Options{})
		for path, status := range want {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}")))
			if w.Code != status {
				t.Errorf("%s: POST %s is answered with %d, want %d: %s", payments, path, w.Code, status, w.Body)
			}
		}
	}
}

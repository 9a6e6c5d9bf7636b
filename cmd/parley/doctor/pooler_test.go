package doctor

import (
	"strings"
	"testing"

	"parley/cmd/parley/config"
	"parley/store/storetest"
)

func TestPooler(t *testing.T) {
	url := storetest.URL(t)
	for _, tt := range []struct {
		name, url string
		status    Status
		detail    string
	}{
		{"none", url, Fine, "answers"},
		{"session", storetest.Pooled(t, url, "session", 10), Fine, "answers"},
		{"transaction", storetest.Pooled(t, url, "transaction", 10), Broken, "in transaction mode"},
	} {
		f, _ := checkDatabase(t.Context(), &config.Config{DatabaseURL: tt.url}, t.TempDir())
		if f.Status != tt.status || !strings.Contains(f.Detail, tt.detail) || (f.Status == Broken) != strings.Contains(f.Fix, "pool_mode = session") {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

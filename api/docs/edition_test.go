package docs

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/billing"
)

// elsewhere are the addresses on a reader's own machine that pages name: their programs and engines, not this server.
var elsewhere = []string{"http://localhost:3000", "http://127.0.0.1:11434", "http://127.0.0.1:${server.address", "http://127.0.0.1:{server.server_port"}

var localAddress = regexp.MustCompile(`(?:https?|wss?)://(?:127\.0\.0\.1|localhost)(?::[^\s"'<)/;&]*)?`)

// TestPagesNameTheirServer: whatever its port and its name are, each page has them where it names the server.
func TestPagesNameTheirServer(t *testing.T) {
	_, h := server()
	for _, at := range pagePaths[2:] {
		page := get(h, at).Body.String() // at example.com
		for _, not := range []string{"SERVER", "this-server", "127.0.0.1:8080", "localhost:8080", "your-server", "data-rates"} {
			if strings.Contains(page, not) {
				t.Errorf("%s has %s", at, not)
			}
		}
		for _, found := range localAddress.FindAllString(page, -1) {
			if !slices.ContainsFunc(elsewhere, func(s string) bool { return strings.HasPrefix(found, s) }) {
				t.Errorf("%s names %s, which is this server's only by chance", at, found)
			}
		}
	}
	_, configured := serverWith(Options{Base: "https://voice.example.com/a&b", Card: billing.DefaultRateCard})
	for _, tt := range []struct {
		h      http.Handler
		host   string
		secure bool
		want   string
	}{
		{h, "127.0.0.1:9123", false, "http://127.0.0.1:9123"},
		{h, "voice.lan:9123", false, "http://voice.lan:9123"},
		{h, "[::1]:9123", true, "https://[::1]:9123"},
		{h, `x"><script>`, false, "https://SERVER"},
		{configured, "127.0.0.1:9123", false, "https://voice.example.com/a&amp;b"},
	} {
		socket := "ws" + strings.TrimPrefix(tt.want, "http")
		for at, want := range map[string]string{"/docs": "export PARLEY_URL=" + tt.want + "\n", "/docs/mcp": `"` + tt.want + "/mcp", "/docs/agents": "connect-src 'self' " + tt.want + " " + socket + "\n"} {
			r := httptest.NewRequest(http.MethodGet, at, nil)
			if r.Host = tt.host; tt.secure {
				r.TLS = &tls.ConnectionState{}
			}
			w := httptest.NewRecorder()
			tt.h.ServeHTTP(w, r)
			if page := strings.NewReplacer("&#39;", "'", "&#34;", `"`).Replace(w.Body.String()); w.Code != http.StatusOK || !strings.Contains(page, want) {
				t.Errorf("%s at %s: %d, no %q", at, tt.host, w.Code, want)
			}
		}
	}
}

// TestEditionsAreBounded: a browser that has an edition is not sent it again, and asking by many names keeps few.
func TestEditionsAreBounded(t *testing.T) {
	a, _ := server()
	s := newSite(a.Document(), newAssets(), Options{Card: billing.DefaultRateCard})
	e := s.page(pages[0]).(*editions)
	for i := range 3 * maxEditions {
		r := httptest.NewRequest(http.MethodGet, "/docs", nil)
		r.Host = fmt.Sprintf("voice%d.lan", i)
		first := httptest.NewRecorder()
		e.ServeHTTP(first, r)
		r.Header.Set("If-None-Match", first.Header().Get("ETag"))
		again := httptest.NewRecorder()
		if e.ServeHTTP(again, r); again.Code != http.StatusNotModified {
			t.Fatalf("asked again: %d", again.Code)
		}
		if n := len(e.kept); n == 0 || n > maxEditions {
			t.Fatalf("%d editions are kept", n)
		}
	}
}

// TestPrintedPrices: the page has every price of the card in force, and those of a new card as soon as that is in force.
func TestPrintedPrices(t *testing.T) {
	card := billing.DefaultRateCard()
	_, h := serverWith(Options{Card: func() *billing.RateCard { return card }})
	shown := func() string { return get(h, "/docs/billing").Body.String() }
	var all map[string]any
	if err := json.Unmarshal(card.JSON(), &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "wallet") // rules of the balance, which sentences have
	page, n := shown(), 0
	var single []string // prices that no country has for itself
	var look func(path string, v any)
	look = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				look(path+"."+k, x)
			}
		case float64:
			if n++; strings.Count(path, ".") < 3 {
				single = append(single, fmt.Sprint(v))
			}
			if want := fmt.Sprintf("<td>%v</td>", v); !strings.Contains(page, want) {
				t.Errorf("the page lacks %s of %s", want, path)
			}
		}
	}
	look("", all)
	if n < 40 {
		t.Errorf("the card has %d prices", n)
	}
	_, table, _ := strings.Cut(page, `aria-label="Prices"`)
	table, _, _ = strings.Cut(table, "</table>")
	var printed []string
	for _, m := range regexp.MustCompile(`<td>([0-9.]+)</td>`).FindAllStringSubmatch(table, -1) {
		printed = append(printed, m[1])
	}
	if slices.Sort(single); !slices.Equal(single, slices.Sorted(slices.Values(printed))) {
		t.Errorf("the card has the prices %q, and the page %q", single, printed)
	}
	for _, want := range []string{
		"Version <code>" + card.Version() + "</code>, in USD before tax",
		`<tr><th scope="row">Speech synthesis</th><td>15</td><td>million characters</td></tr>`,
		`<tr><th scope="row">Spain (<code>ES</code>)</th><td>0.01</td><td>0.018</td><td>0.045</td></tr>`,
		`<tr><th scope="row">United States (<code>US</code>)</th><td>0.0085</td><td>0.014</td><td>0.014</td></tr>`,
		`<tr><th scope="row">Italy (<code>IT</code>)</th><td>0.011</td><td>0.02</td><td>not sold</td></tr>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "Realtime engine, audio spoken") {
		t.Error("the page has prices that the card lacks")
	}
	text := strings.Replace(string(card.JSON()), card.Version(), "2999-01-01.1", 1)
	text = strings.Replace(text, `"stt_per_minute":0.006`, `"stt_per_minute":0.0071`, 1)
	next, err := billing.ParseRateCard([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	card = next
	if page := shown(); !strings.Contains(page, "2999-01-01.1") || !strings.Contains(page, "<td>0.0071</td>") {
		t.Error("the page has the prices of an older card")
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/cmd/parley/command"
)

// page asks a server for a page, or sends it a form.
func (r *running) page(c *http.Client, path string, form url.Values) *http.Response {
	r.t.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	q, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.addrs["http"]+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w, err := c.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	w.Body.Close()
	return w
}

// visitor is a browser that keeps cookies and follows nothing.
func visitor() *http.Client {
	jar, _ := cookiejar.New(nil) // never fails without options
	return &http.Client{Jar: jar, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

var firstLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+(/app/welcome\?token=([A-Za-z0-9_-]{43}))`)

// TestPeopleSignIn sets a new server up by the link that it prints, then lets others in
// with commands, while it runs.
func TestPeopleSignIn(t *testing.T) {
	dir := usedDataDir(t)
	r := serve(t, dir, "PARLEY_CARRIER=none")
	var link []string
	for end := time.Now().Add(patience); link == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		link = firstLink.FindStringSubmatch(r.printed()) // printed before the log says ready, by another pipe
	}
	if link == nil {
		t.Fatalf("the server printed %q", r.printed())
	}
	if strings.Contains(r.text(), link[2]) {
		t.Error("the log holds the link")
	}
	ana := visitor()
	if w := r.page(ana, link[1], nil); w.StatusCode != 200 {
		t.Errorf("the link: %d", w.StatusCode)
	}
	w := r.page(ana, "/app/welcome", url.Values{"token": {link[2]}, "email": {"ana@example.com"}, "password": {"correct horse battery"}, "again": {"correct horse battery"},
		"begin": {"empty"}, "account": {"Casa Lola"}})
	if w.StatusCode != http.StatusSeeOther {
		t.Fatalf("setting up: %d", w.StatusCode)
	}
	if w := r.page(ana, "/app/", nil); w.StatusCode != 200 {
		t.Errorf("the overview: %d", w.StatusCode)
	}
	if w := r.page(visitor(), link[1], nil); w.StatusCode != http.StatusNotFound {
		t.Errorf("the link again: %d", w.StatusCode)
	}

	ask := func(args ...string) (int, string) {
		var out bytes.Buffer
		cmd := parley(dir, append([]string{"admin", "user"}, args...)...)
		cmd.Stdout = &out
		code, said := runToEnd(t, cmd)
		return code, out.String() + said
	}
	var made struct {
		Email, Role, Link string
		ExpiresAt         *time.Time `json:"link_expires_at"`
	}
	code, said := ask("create", "Luis@example.com", "--role", "member", "--json")
	if err := json.Unmarshal([]byte(said), &made); err != nil || code != command.ExitDone || made.Email != "luis@example.com" || made.Role != "member" || made.ExpiresAt == nil {
		t.Fatalf("%d %s %v", code, said, err)
	}
	at, err := url.Parse(made.Link)
	if err != nil {
		t.Fatal(err)
	}
	luis := visitor()
	if w := r.page(luis, at.RequestURI(), nil); w.StatusCode != 200 {
		t.Errorf("%s: %d", made.Link, w.StatusCode)
	}
	if w := r.page(luis, "/app/password", url.Values{"token": {at.Query().Get("token")}, "password": {"another horse battery"}, "again": {"another horse battery"}}); w.StatusCode != http.StatusSeeOther {
		t.Errorf("choosing a password: %d", w.StatusCode)
	}
	if w := r.page(luis, "/app/accounts", nil); w.StatusCode != 200 {
		t.Errorf("his accounts: %d", w.StatusCode)
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"create", "luis@example.com"}, command.ExitFailed, "already"},
		{[]string{"create", "nonsense"}, command.ExitUsage, "mail address"},
		{[]string{"create", "eva@example.com", "--role", "queen"}, command.ExitUsage, "operator or a member"},
		{[]string{"create", "eva@example.com", "--account", "acc_x"}, command.ExitNotFound, "not found"},
		{[]string{"reset", "nobody@example.com"}, command.ExitNotFound, "not found"},
		{[]string{"reset", "luis@example.com"}, command.ExitDone, "/app/password?token="},
		{[]string{"list"}, command.ExitDone, "luis@example.com"},
	} {
		if code, said := ask(tt.args...); code != tt.code || !strings.Contains(said, tt.says) {
			t.Errorf("%q: %d %s", tt.args, code, said)
		}
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
		page int // that his accounts answer then
	}{
		{[]string{"role", "luis@example.com", "queen"}, command.ExitUsage, "operator or a member", 200},
		{[]string{"role", "luis@example.com", "operator"}, command.ExitDone, "operator", 200},
		{[]string{"role", "luis@example.com", "owner", "--account", "acc_x"}, command.ExitNotFound, "not found", 200},
		{[]string{"disable", "luis@example.com"}, command.ExitDone, "disabled", http.StatusSeeOther},
		{[]string{"reset", "luis@example.com"}, command.ExitNotFound, "not found", http.StatusSeeOther},
		{[]string{"enable", "luis@example.com"}, command.ExitDone, "luis@example.com", http.StatusSeeOther},
		{[]string{"delete", "luis@example.com"}, command.ExitDone, "deleted", http.StatusSeeOther},
		{[]string{"delete", "luis@example.com"}, command.ExitNotFound, "not found", http.StatusSeeOther},
	} {
		if code, said := ask(tt.args...); code != tt.code || !strings.Contains(said, tt.says) {
			t.Errorf("%q: %d %s", tt.args, code, said)
		}
		if w := r.page(luis, "/app/accounts", nil); w.StatusCode != tt.page {
			t.Errorf("%q: his accounts answer %d", tt.args, w.StatusCode)
		}
	}
	if code, said := ask("list", "--json"); code != command.ExitDone || strings.Contains(said, "eva@") {
		t.Errorf("a refused command made somebody: %d %s", code, said)
	}
	r.signal(syscall.SIGTERM)
	if code := r.end(); code != 0 {
		t.Errorf("%d\n%s", code, r.text())
	}
	if strings.Contains(r.text(), "horse") || strings.Contains(r.text(), at.Query().Get("token")) {
		t.Error("the log holds secrets")
	}
	r = serve(t, dir, "PARLEY_CARRIER=none")
	r.signal(syscall.SIGTERM)
	r.end()
	if strings.Contains(r.printed(), "token=") {
		t.Errorf("a server that has been set up prints %q", r.printed())
	}
}

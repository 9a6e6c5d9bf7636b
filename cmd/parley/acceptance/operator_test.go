package acceptance

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"parley/api/apitest"
)

// newOperator makes a user who runs the server, and returns a key of theirs.
func newOperator(t *testing.T, s *server, email string) string {
	t.Helper()
	admin(t, s.dir, &struct{}{}, "user", "create", email)
	var key struct {
		Role   string
		APIKey string `json:"api_key"`
	}
	admin(t, s.dir, &key, "key", "create", "--operator", email)
	if key.Role != "operator" || !strings.HasPrefix(key.APIKey, "op_") {
		t.Fatalf("the key is %+v", key)
	}
	return key.APIKey
}

var parameter = regexp.MustCompile(`\{[^}]+\}`)

// TestOperatorKeyOpensNothingElse: an operator's key looks after accounts, and every other
// route, sockets among them, refuses it.
func TestOperatorKeyOpensNothingElse(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	who := newCustomer(t, s, "")
	key := newOperator(t, s, "operator@example.com")
	admin(t, s.dir, &struct{}{}, "user", "create", "luis.member@example.com", "--role", "member", "--account", who.account)
	var people struct {
		Members []struct{ Email, Role string }
	}
	admin(t, s.dir, &people, "account", "members", who.account)
	if len(people.Members) != 1 || people.Members[0].Email != "luis.member@example.com" || people.Members[0].Role != "owner" {
		t.Errorf("the members are %+v", people)
	}
	web := client(t)
	ask := func(credential, method, path string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.addrs["http"]+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-API-Key", credential)
		resp, err := web.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var p struct{ Code string }
		_ = json.Unmarshal(body, &p) // not every answer is an object
		return resp.StatusCode, p.Code
	}
	refused := 0
	for path, item := range apitest.Published(t).Paths.Map() {
		for method, op := range item.Operations() {
			at := parameter.ReplaceAllString(path, who.account)
			public := op.Security != nil && len(*op.Security) == 0
			if public || strings.HasPrefix(path, "/v1/operator/") {
				continue
			}
			refused++
			if status, code := ask(key, method, at); status != http.StatusForbidden || code != "auth.role_not_allowed" {
				t.Errorf("%s %s: %d %s", method, path, status, code)
			}
		}
	}
	if refused < 80 {
		t.Errorf("only %d routes were tried", refused)
	}
	at := "/v1/operator/accounts/" + who.account
	if status, code := ask(key, "GET", at); status != http.StatusOK {
		t.Errorf("an account: %d %s", status, code)
	}
	for _, path := range []string{at, "/v1/operator/accounts", "/v1/operator/checks"} {
		if status, code := ask(who.key, "GET", path); status != http.StatusNotFound || code != "request.not_found" {
			t.Errorf("the account's own key at %s: %d %s", path, status, code)
		}
	}
}

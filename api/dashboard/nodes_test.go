package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"parley/api/dashboard/dashboardtest"
	"parley/store/people"
	"parley/store/storetest"
)

// TestNodesPage: an operator sees which nodes there are and how they are; nobody else does.
func TestNodesPage(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	for _, name := range []string{"<i>one", "two"} {
		n, err := s.DB.BeginEpoch(t.Context(), name, ":8080")
		s.OK(err)
		s.OK(s.DB.IntroduceNode(t.Context(), n, "10.0.0.7:8080", "1.4.0"))
	}
	_, err := s.DB.Pool().Exec(t.Context(), "update nodes set heartbeat_at = now() - interval '1 minute' where node_id = 'two'")
	s.OK(err)
	a := s.Get("/app/nodes")
	for _, want := range []string{"&lt;i&gt;one", `<span class="badge good">Serving</span></td>`, "10.0.0.7:8080", "1.4.0", `<span class="badge bad">Silent</span><br>since <time datetime="`} {
		if a.Status != http.StatusOK || !strings.Contains(a.Body, want) {
			t.Errorf("the page lacks %s: %d %s", want, a.Status, a.Body)
		}
	}
	member := s.NewUser("luis@example.com", people.RoleMember)
	s.OK(people.New(s.DB).AddMember(storetest.At(t.Context(), s.Stamp()), s.Account, member, people.RoleOwner))
	s.SignInAs(s.Client, member)
	if a := s.Get("/app/nodes"); a.Status != http.StatusForbidden {
		t.Errorf("a member sees it: %d", a.Status)
	}
}

package acceptance

import (
	"net/http"
	"slices"
	"testing"
)

// TestLostConversation: what was said in a call is read while it lasts, and after its server was killed.
func TestLostConversation(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	m := newModel()
	t.Cleanup(m.Close)
	s := serveLean(t, dir, m.env())
	who := newCustomer(t, s, "10")
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening") // the greeting is over
	c.send(`{"type":"text","data":"What time do you open on Monday?"}`)
	c.awaitLine("agent")
	c.awaitStatus("listening")

	type call struct {
		ID, Status string
		EndDetail  *string `json:"end_detail"`
		Transcript []struct{ Role, Text string }
		Turns      []struct{ Turn int }
	}
	var list struct{ Data []call }
	readAs(t, s, who.key, "/v1/calls", &list)
	if len(list.Data) != 1 {
		t.Fatalf("%+v", list)
	}
	at := "/v1/calls/" + list.Data[0].ID
	roles := func(c *call) (all []string) {
		for _, l := range c.Transcript {
			all = append(all, l.Role)
		}
		return all
	}
	want := []string{"agent", "user", "agent"}
	var before, after call
	eventually(t, "what was said is stored while the call lasts", func() bool {
		readAs(t, s, who.key, at, &before)
		return slices.Equal(roles(&before), want)
	})
	if before.Status != "connected" || before.Transcript[1].Text != "What time do you open on Monday?" || len(before.Turns) == 0 {
		t.Errorf("while it lasts: %+v", before)
	}
	s.kill()
	c.hangUp()
	s = serveLean(t, dir, m.env())
	readAs(t, s, who.key, at, &after)
	if after.Status != "ended" || after.EndDetail == nil || *after.EndDetail != "node_lost" || !slices.Equal(roles(&after), want) || after.Transcript[2] != before.Transcript[2] || len(after.Turns) != len(before.Turns) {
		t.Errorf("after its server was killed: %+v", after)
	}
	if status, _ := ask(t, s, who.key, at+"/events"); status != http.StatusOK {
		t.Errorf("its events: %d", status)
	}
}

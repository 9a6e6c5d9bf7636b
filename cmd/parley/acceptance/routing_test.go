package acceptance

import (
	"strings"
	"testing"
	"time"
)

// TestRoutingOfANumber: rules that a program sets decide about the next call, as the server says before.
func TestRoutingOfANumber(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	phone, c := newPhone(t), newDialer(t, s, "")
	var own struct{ Numbers []struct{ ID string } }
	if status := c.ask("GET", "/callcenter/numbers", "", &own); status != 200 || len(own.Numbers) != 1 {
		t.Fatalf("%d %+v", status, own)
	}
	at := "/callcenter/numbers/" + own.Numbers[0].ID
	var wrong struct{ Code, Detail string }
	if status := c.ask("PUT", at+"/rules", `{"schedule":{"monday":["9-14"]}}`, &wrong); status != 400 || !strings.HasPrefix(wrong.Detail, "rules.schedule.monday[0]: ") {
		t.Errorf("%d %+v", status, wrong)
	}
	goes := func(rules, action string) {
		t.Helper()
		var routed struct{ Action string }
		if status := c.ask("PUT", at+"/rules", rules, &struct{}{}); status != 200 {
			t.Fatalf("%s: %d", rules, status)
		}
		if status := c.ask("POST", at+"/try", `{}`, &routed); status != 200 || routed.Action != action {
			t.Errorf("%s: %d %+v, want %s", rules, status, routed, action)
		}
	}
	ended := func(reason string, agent bool) {
		t.Helper()
		var call incomingCall
		eventually(t, "the call is in history", func() bool {
			return c.ask("GET", "/v1/calls/"+newest(c), "", &call) == 200 && call.Status == "ended"
		})
		if call.EndReason != reason || (call.AgentID != nil) != agent {
			t.Errorf("%+v, want %s", call, reason)
		}
	}

	goes(`{"schedule":{},"closed":{"message":"We are closed."}}`, "message")
	caller := call(t, s, phone, c.who.number)
	eventually(t, "the server hangs up", func() bool {
		select {
		case <-caller.over:
			return true
		default:
			return false
		}
	})
	if heard := caller.hears(0); heard < 300*time.Millisecond {
		t.Errorf("the message was %v", heard)
	}
	ended("agent_hangup", false)

	goes(`{"menu":{"prompt":"Press one.","options":[{"key":"1","agent":"`+c.who.agent+`"}]}}`, "menu")
	caller = call(t, s, phone, c.who.number)
	caller.awaitVoice("the prompt", 0, 200*time.Millisecond)
	mark := caller.mark()
	if err := caller.leg.SendDigits("1"); err != nil {
		t.Fatal(err)
	}
	caller.awaitVoice("the agent", mark, 500*time.Millisecond)
	caller.hangUp()
	ended("user_hangup", true)

	goes(`{}`, "agent")
	checkBooks(t, s.dir)
}

package acceptance

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// readAs gets a JSON answer with a key.
func readAs(t *testing.T, s *server, key, path string, v any) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+s.addrs["http"]+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// checkWire wants the history of a telephone call to the demonstration's number to
// say how it sounded and to have its signalling from the INVITE to the answered BYE.
func checkWire(t *testing.T, s *server, call string) {
	t.Helper()
	at := "/v1/calls/" + call
	var trace struct {
		Data []struct{ Direction, Message string }
	}
	eventually(t, "the call's signalling is stored to its end", func() bool {
		var call struct{ MOS *float64 }
		readAs(t, s, s.guide.key, at, &call)
		return call.MOS != nil
	})
	readAs(t, s, s.guide.key, at+"/sip", &trace)
	var seen []string
	for _, m := range trace.Data {
		first, _, _ := strings.Cut(m.Message, "\r\n")
		seen = append(seen, m.Direction+" "+first)
	}
	all := strings.Join(seen, "\n")
	for _, want := range []string{"received INVITE ", "sent SIP/2.0 100 ", "sent SIP/2.0 180 ", "sent SIP/2.0 200 ", "received ACK ", " BYE "} {
		if !strings.Contains(all, want) {
			t.Errorf("the signalling lacks %q:\n%s", want, all)
		}
	}
	var quality struct {
		Available       bool
		MOS             float64
		PacketsReceived int `json:"packets_received"`
		PacketsSent     int `json:"packets_sent"`
	}
	readAs(t, s, s.guide.key, at+"/quality", &quality)
	if !quality.Available || quality.MOS < 1 || quality.MOS > 4.5 || quality.PacketsReceived == 0 || quality.PacketsSent == 0 {
		t.Errorf("the call's quality: %+v", quality)
	}
	var history struct {
		ID, Status, Direction string
		MOS                   *float64
		Transcript            []struct{ Role, Text string }
	}
	readAs(t, s, s.guide.key, at, &history)
	if history.ID != call || history.Status != "ended" || history.Direction != "inbound" || history.MOS == nil || *history.MOS != quality.MOS || len(history.Transcript) < 2 {
		t.Errorf("the call's history: %+v", history)
	}
}

// TestOutboundWire: calls that an agent places keep their signalling too, also those
// that nobody answers.
func TestOutboundWire(t *testing.T) {
	t.Parallel()
	c := newDialer(t, shared(t, demonstration), "20")
	for digits, want := range map[string][]string{
		"01": {"sent INVITE ", "received SIP/2.0 486 "},                               // busy
		"06": {"sent INVITE ", "received SIP/2.0 200 ", "sent ACK ", "received BYE "}, // hangs up after some seconds
	} {
		id := c.dial(digits, nil)
		c.ended(id)
		var trace struct {
			Data []struct{ Direction, Message string }
		}
		eventually(t, "the signalling of "+digits+" is stored to its end", func() bool {
			if c.ask("GET", "/v1/calls/"+id+"/sip", "", &trace) != 200 {
				return false
			}
			var all strings.Builder
			for _, m := range trace.Data {
				first, _, _ := strings.Cut(m.Message, "\r\n")
				all.WriteString(m.Direction + " " + first + "\n")
			}
			return !slices.ContainsFunc(want, func(line string) bool { return !strings.Contains(all.String(), line) })
		})
		var quality struct{ Available bool }
		if code := c.ask("GET", "/v1/calls/"+id+"/quality", "", &quality); code != 200 || quality.Available != (digits == "06") {
			t.Errorf("the quality of %s: %d, %+v", digits, code, quality)
		}
	}
}

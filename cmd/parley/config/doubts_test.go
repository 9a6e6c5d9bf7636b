package config

import (
	"strings"
	"testing"
)

// TestPlayMoneyIsAskedFor: payments are simulated where somebody says so, and in a
// demonstration that no real carrier would have to be paid for.
func TestPlayMoneyIsAskedFor(t *testing.T) {
	real := []string{"PARLEY_CARRIER=sip", "PARLEY_CONFIG=" + write(t, "trunks:\n  - {name: wholesale, targets: [{host: 192.0.2.7}]}\n")}
	for _, tt := range []struct {
		env    []string
		want   string
		source string
	}{
		{nil, "none", "default"},
		{[]string{"PARLEY_PAYMENTS=simulated"}, "simulated", "environment"},
		{[]string{"PARLEY_DEMO=on"}, "simulated", "default"},
		{[]string{"PARLEY_DEMO=on", "PARLEY_CARRIER=none"}, "simulated", "default"},
		{[]string{"PARLEY_DEMO=on", "PARLEY_PAYMENTS=none"}, "none", "environment"},
		{append(real, "PARLEY_DEMO=on"), "none", "default"},
		{real, "none", "default"},
	} {
		c, _, err := Load(Sources{Env: tt.env})
		if err != nil {
			t.Errorf("%v: %v", tt.env, err)
			continue
		}
		for _, s := range c.Shown() {
			if s.Key == "payments" && (s.Value != tt.want || s.Source != tt.source) || c.Payments != tt.want {
				t.Errorf("%v: %s, shown as %+v", tt.env, c.Payments, s)
			}
		}
	}
}

// TestDoubts: what is played beside engines that cost money is said, and nothing else.
func TestDoubts(t *testing.T) {
	real := []string{"PARLEY_LLM=openai,scripted", "PARLEY_LLM_URL=https://llm.example/v1"}
	for _, tt := range []struct {
		env  []string
		want string // names
	}{
		{nil, ""},
		{[]string{"PARLEY_DEMO=on"}, ""},
		{real, "simulated carrier"},
		{append(real, "PARLEY_PAYMENTS=simulated"), "simulated payments, simulated carrier"},
		{append(real, "PARLEY_DEMO=on", "PARLEY_CARRIER=none"), "simulated payments"},
		{append(real, "PARLEY_CARRIER=none"), ""},
	} {
		c, _, err := Load(Sources{Env: tt.env})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range c.Doubts() {
			names = append(names, d.Name)
			if d.Fix == "" || d.Plain == "" || strings.Contains(d.Plain, "PARLEY_") || !strings.Contains(d.Text, "PARLEY_LLM=openai") {
				t.Errorf("%+v", d)
			}
		}
		if got := strings.Join(names, ", "); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.env, got, tt.want)
		}
	}
}

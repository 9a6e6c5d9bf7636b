package pipeline_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/pipeline/pipelinetest"
)

// TestStrayKeys: keys that no function waits for reach the model and the record, alone or
// before the next words.
func TestStrayKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		keys map[time.Duration]byte
		said []pipelinetest.Said
		log  []string
		want []string // what the caller says to the model in the end
	}{
		{"while nobody speaks", map[time.Duration]byte{2010: '1', 2510: '2'}, nil,
			[]string{`4020 user_line "[pressed 12]"`, `agent_line "Yes I can help. It takes two days. Is that all right?"`}, []string{"[pressed 12]"}},
		{"before words", map[time.Duration]byte{2010: '1'}, []pipelinetest.Said{said(2500, 4060, "that is me")},
			[]string{`4260 user_line "[pressed 1]"`, `4260 user_line "that is me"`}, []string{"[pressed 1]", "that is me"}},
		{"over the agent", map[time.Duration]byte{6010: '9'}, []pipelinetest.Said{table},
			[]string{`6010 interrupted`, `7520 user_line "[pressed 9]"`, `7520 thinking 2`}, []string{"a table please", "[pressed 9]"}},
		{"at the end", map[time.Duration]byte{14010: '5'}, nil, []string{`user_line "[pressed 5]"`, "end api_hangup"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(c.said...)
				s.Leg.Telephone()
				s.Leg.Digits = map[time.Duration]byte{}
				for at, key := range c.keys {
					s.Leg.Digits[at*ms] = key
				}
				s.Play(t, 15010*ms)
				has(t, s, c.log...)
				var got []string
				for _, prompt := range s.Prompts() {
					got = nil
					for _, m := range prompt {
						if m.Role == inference.RoleUser {
							got = append(got, m.Text)
						}
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("the model is told %q, want %q\n%s", got, c.want, s.Log())
				}
			})
		})
	}
}

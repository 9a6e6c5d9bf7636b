package pipeline_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
)

// inside plays a conversation and lists what is told of its inside.
func inside(t *testing.T, s *pipelinetest.Scene) (told []string) {
	t.Helper()
	s.Observe = func(_ *pipeline.Call, e event.Event) {
		switch e.Kind {
		case event.Phased:
			told = append(told, e.Text)
		case event.Asked:
			last := e.Request.Messages[len(e.Request.Messages)-1]
			told = append(told, fmt.Sprintf("asked(%d %t %s %s)", e.Generation, e.On, e.Request.System, last.Text))
		}
	}
	s.Play(t, 8*time.Second)
	return told
}

// TestInspect: who may see inside a call is told each phase of the turn machine, and what
// the model is asked; nobody else is told anything of it.
func TestInspect(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*pipelinetest.Scene)
		want   string
	}{
		"inside": {func(s *pipelinetest.Scene) { s.Config.Inspect = true },
			"thinking listening user_speaking pause asked(1 false You help. hello) thinking speaking listening"},
		"in advance": {func(s *pipelinetest.Scene) { s.Config.Inspect = true; ahead(s) },
			"thinking listening user_speaking pause asked(0 true You help. hello) thinking speaking listening"},
		"outside": {func(*pipelinetest.Scene) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(said(1000, 2000, "hello"))
				c.change(s)
				if got := strings.Join(inside(t, s), " "); got != c.want {
					t.Errorf("told %q, want %q", got, c.want)
				}
			})
		})
	}
}

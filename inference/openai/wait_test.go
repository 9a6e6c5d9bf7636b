package openai

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/remote"
)

// TestWait: a request is waited for from when it went out to when its answer came in,
// whatever its caller does before and after.
func TestWait(t *testing.T) {
	const answers, dawdles = 100 * time.Millisecond, 30 * time.Millisecond
	for name, body := range map[string]string{"llm": say("Hello"), "tts": pcm(100)} {
		synctest.Test(t, func(t *testing.T) {
			client, end := memory(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(answers)
				write(w, body)
				<-r.Context().Done()
			})
			defer end()
			c := remote.Engine{BaseURL: "http://server/v1", HTTPClient: client}
			var wait inference.Wait
			ctx := wait.With(t.Context())
			start := time.Now()
			first := func(err error) bool {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				time.Sleep(dawdles)
				sent, got := wait.Times(time.Time{}, time.Time{})
				if sent != start || got.Sub(start) != answers {
					t.Errorf("%s: asked after %v, answered after %v; want 0s and %v", name, sent.Sub(start), got.Sub(start), answers)
				}
				return false
			}
			if name == "llm" {
				l, err := NewLLM(c)
				if err != nil {
					t.Fatal(err)
				}
				for _, err := range l.Complete(ctx, hello) {
					if !first(err) {
						break
					}
				}
				return
			}
			v, err := NewTTS(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range v.Speak(ctx, good) {
				if !first(err) {
					break
				}
			}
		})
	}
}

package acceptance

import (
	"strings"
	"testing"

	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/media"
)

// TestPlayground asks the question of the README in a browser, which the demonstration's
// link has signed in, and hears the answer there, over either transport.
func TestPlayground(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	pause := make([]int16, 3*int(media.Rate48k))
	microphone := append(append(append([]int16{}, pause...), question(t, media.Rate48k)...), append(pause, pause...)...)
	flags := voicetest.Microphone(t, microphone)
	for _, transport := range []string{"websocket", "webrtc"} {
		t.Run(transport, func(t *testing.T) {
			b := dashboardtest.Open(t, "http://"+s.addrs["http"], flags...)
			b.Go(s.demoLink(t))
			b.Go("/app/playground?raw&agent=" + s.guide.agent + "&transport=" + transport)
			const panel = `document.querySelector("[data-voice-panel]").voice`
			b.Wait(panel + `?.session.state === "idle"`)
			b.Click("[data-voice=start]")
			b.Wait(panel + `.session.state === "live"`)
			said := func(role string, words ...string) string {
				return panel + `.conversation.lines.some((l) => l.role === "` + role + `" && /` + strings.Join(words, "|") + `/i.test(l.text))`
			}
			b.Wait(said("user", "open.*monday"))
			b.Wait(said("agent", hours...))
			for _, shown := range []string{
				`.scope.samples.some((s) => s.agent > 0.05) && ` + panel + `.scope.samples.some((s) => s.caller > 0.05)`,
				`.conversation.turns.some((t) => t.measured && t.total > 0)`,
				`.conversation.told.messages.some((m) => m.role === "user" && /monday/i.test(m.text)) && ` + panel + `.conversation.told.system !== ""`,
				`.conversation.cost > 0 && ` + panel + `.conversation.call !== ""`,
			} {
				b.Wait(panel + shown)
			}
			for _, phase := range []string{"listening", "user_speaking", "thinking", "speaking"} {
				b.Wait(panel + `.conversation.phases.some((p) => p.phase === "` + phase + `")`)
			}
			b.Shot("answered")
			b.Click("[data-voice=stop]")
			b.Wait(panel + `.session.state === "ended"`)
		})
	}
}

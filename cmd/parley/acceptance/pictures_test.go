package acceptance

import (
	"os"
	"testing"

	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/media"
)

// TestPictures makes the pictures of README.md (make pictures): the first page of the
// dashboard, and the playground after a conversation.
func TestPictures(t *testing.T) {
	if os.Getenv("PARLEY_TEST_SCREENSHOTS") == "" {
		t.Skip("PARLEY_TEST_SCREENSHOTS is not set")
	}
	s := shared(t, demonstration)
	pause := make([]int16, 3*int(media.Rate48k))
	microphone := append(append(append([]int16{}, pause...), question(t, media.Rate48k)...), append(pause, pause...)...)
	b := dashboardtest.Open(t, "http://"+s.addrs["http"], voicetest.Microphone(t, microphone)...)
	b.Go(s.demoLink(t))
	b.Wide()
	const panel = `document.querySelector("[data-voice-panel]").voice`
	b.Go("/app/playground?agent=" + s.guide.agent)
	b.Wait(panel + `?.session.state === "idle"`)
	b.Click("[data-voice=start]")
	b.Wait(panel + `.conversation.turns.some((t) => t.measured && t.total > 0)`)
	b.Wait(panel + `.conversation.lines.some((l) => l.role === "agent" && /nine/i.test(l.text))`)
	b.Shot("playground")
	b.Click("[data-voice=stop]")
	b.Wait(panel + `.session.state === "ended"`)
	b.Go("/app/")
	b.Shot("home")
}

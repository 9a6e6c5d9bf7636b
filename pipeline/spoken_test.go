package pipeline_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/spoken"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
)

// TestShownAndSpoken: the voice is given what people say; transcript, captions and the
// model's memory have what is written, without markup.
func TestShownAndSpoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(table, said(11000, 12000, "thank you"))
		s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(160*ms, "# The **Lola** menu\n", "It is €25. 🙂 ", "Book at [our site](https://x.y/z) ", "at 9:30.")}
		s.Config.Agent.Pronunciation = spoken.NewDictionary([]spoken.Entry{{Word: "lola", Say: "low la"}})
		var captions, lines []string
		s.Observe = func(_ *pipeline.Call, e event.Event) {
			switch e.Kind {
			case event.AgentPartial:
				captions = append(captions, e.Text)
			case event.AgentLine:
				lines = append(lines, e.Text)
			}
		}
		s.Play(t, 12500*ms)
		var texts []string
		for _, c := range s.TTS.Calls() {
			if !strings.Contains(c.Speech.Text, "there?") && !strings.Contains(c.Speech.Text, "again?") && !strings.Contains(c.Speech.Text, "call") && c.Speech.Text != "Goodbye." && !strings.Contains(c.Speech.Text, "wrong") {
				texts = append(texts, c.Speech.Text)
			}
		}
		if got, want := strings.Join(texts[:min(3, len(texts))], "|"), "The low la menu|It is twenty-five euros.|Book at our site at nine thirty."; got != want {
			t.Errorf("the voice was given %q, want %q", got, want)
		}
		if got, want := strings.Join(captions, "|"), "The Lola menu|It is €25.|🙂 Book at our site at 9:30."; !strings.HasPrefix(got, want) {
			t.Errorf("captions %q, want %q", got, want)
		}
		const want = "The Lola menu It is €25. 🙂 Book at our site at 9:30."
		if len(lines) == 0 || lines[0] != want {
			t.Fatalf("the transcript has %q, want %q", lines, want)
		}
		messages := s.LLM.Calls()[1].Request.Messages
		if m := messages[len(messages)-2]; m.Role != inference.RoleAgent || m.Text != want {
			t.Errorf("the model remembers %+v", m)
		}
	})
}

// TestInterruptedNumber: an amount of which only a part was heard was not heard.
func TestInterruptedNumber(t *testing.T) {
	for at, want := range map[time.Duration]string{
		6200: "We have a table.", 6500: "We have a table.", 6700: "We have a table. €25", 6999: "We have a table. €25 is"} {
		synctest.Test(t, func(t *testing.T) {
			s := pipelinetest.NewScene(table)
			// Spoken in quarters of a second: twenty-five, euros, is, fine.
			s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(160*ms, "We have a table. ", "€25 is fine. ")}
			s.Act = func(c *pipeline.Call) {
				time.Sleep(at * ms)
				c.Interrupt()
			}
			var line string
			s.Observe = func(_ *pipeline.Call, e event.Event) {
				if e.Kind == event.AgentLine {
					line = e.Text
				}
			}
			s.Play(t, 8000*ms)
			if line != want {
				t.Errorf("interrupted at %d ms, %q was heard, want %q", at, line, want)
			}
		})
	}
}

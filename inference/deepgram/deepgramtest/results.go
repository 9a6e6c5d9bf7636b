package deepgramtest

import (
	"time"

	"parley/inference/enginetest/hearingtest"
)

// confidence is what Nova believes of everything it hears.
const confidence = .98

// results makes a message of words from the last final until to.
func (n *nova) results(words []hearingtest.Word, to time.Duration, final bool, mark string) any {
	list := []map[string]any{}
	for _, w := range words {
		one := map[string]any{"word": hearingtest.Plain(w.Text), "start": seconds(w.Start), "end": seconds(w.End), "confidence": confidence}
		if n.nova.formatted {
			one["punctuated_word"] = w.Text
		}
		list = append(list, one)
	}
	best := map[string]any{"transcript": hearingtest.Text(words, !n.nova.formatted), "confidence": confidence, "words": list}
	if len(words) == 0 {
		best["confidence"] = 0
	}
	return map[string]any{
		"type": "Results", "channel_index": []int{0, 1}, "start": seconds(n.from), "duration": seconds(to - n.from),
		"is_final": final, "speech_final": mark == "speech_final", "from_finalize": mark == "from_finalize",
		"channel":  map[string]any{"alternatives": []any{best}},
		"metadata": map[string]any{"request_id": n.id},
	}
}

// seconds is how the protocol writes a time.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

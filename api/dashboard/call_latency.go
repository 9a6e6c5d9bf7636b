package dashboard

import (
	"time"

	"parley/api/wire"
)

// turnBar is a turn of the agent in the waterfall; the parts lie on a line of a
// thousand units, which is the slowest turn.
type turnBar struct {
	At     time.Duration
	Over   int64 // the turn was taken to be over, in milliseconds after the caller's last sound
	Points []turnPoint
	Parts  []barPart
	Mark   int64 // where Over lies on the line
}

// turnPoint is one of the points of a turn, after its first.
type turnPoint struct {
	Class string
	Known bool
	MS    int64 // after the end of speech
	Last  bool
}

// barPart is what lies before a point and after the one before it.
type barPart struct {
	Class       string
	From, Width int64
}

// pointsOf are the points of a turn in the order in which they usually come. Of a call of
// before they were kept those are known that follow from the stages.
func pointsOf(t *wire.CallTurn) []turnPoint {
	p := t.Points
	if p == nil {
		token := t.EndpointMS + t.ModelMS
		audio := token + t.VoiceMS
		p = &wire.CallPoints{FirstTokenMS: &token, FirstAudioMS: &audio, FirstPacketMS: &t.TotalMS}
	}
	var out []turnPoint
	for _, x := range []struct {
		class string
		ms    *int64
	}{{"text", p.FinalTextMS}, {"token", p.FirstTokenMS}, {"sentence", p.FirstSentenceMS}, {"audio", p.FirstAudioMS}, {"packet", p.FirstPacketMS}} {
		point := turnPoint{Class: x.class, Known: x.ms != nil, Last: x.class == "packet"}
		if point.Known {
			point.MS = *x.ms
		}
		out = append(out, point)
	}
	return out
}

// bars lays the turns out in one scale.
func bars(turns []wire.CallTurn) []turnBar {
	out := make([]turnBar, len(turns))
	longest := int64(1)
	for i := range turns {
		t := &turns[i]
		out[i] = turnBar{At: time.Duration(t.AtMS) * time.Millisecond, Over: t.EndpointMS, Points: pointsOf(t)}
		for _, p := range out[i].Points {
			longest = max(longest, p.MS)
		}
	}
	for i := range out {
		b := &out[i]
		b.Mark = min(1000, max(0, b.Over*1000/longest))
		at := int64(0)
		for _, p := range b.Points {
			if to := p.MS * 1000 / longest; p.Known && to > at {
				b.Parts = append(b.Parts, barPart{p.Class, at, to - at})
				at = to
			}
		}
	}
	return out
}

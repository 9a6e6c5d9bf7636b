package inference

import "time"

// Usage is what a reply or a stream has consumed so far. Each engine fills the
// fields that its vendor bills.
type Usage struct {
	In, Out   int // tokens of text; Cached is part of In, Reasoning of Out
	Cached    int `json:",omitempty"`
	Reasoning int `json:",omitempty"`
	// Tokens of audio; AudioCached is part of AudioIn.
	AudioIn     int `json:",omitempty"`
	AudioOut    int `json:",omitempty"`
	AudioCached int `json:",omitempty"`

	Audio      time.Duration `json:",omitempty"` // audio recognised or made
	Open       time.Duration `json:",omitempty"` // time a connection was open
	Characters int           `json:",omitempty"` // code points spoken
	Requests   int           `json:",omitempty"`
	Source     UsageSource
}

// Plus is the usage of two replies together.
func (u Usage) Plus(v Usage) Usage {
	u.In, u.Out, u.Cached, u.Reasoning = u.In+v.In, u.Out+v.Out, u.Cached+v.Cached, u.Reasoning+v.Reasoning
	u.AudioIn, u.AudioOut, u.AudioCached = u.AudioIn+v.AudioIn, u.AudioOut+v.AudioOut, u.AudioCached+v.AudioCached
	u.Audio, u.Open = u.Audio+v.Audio, u.Open+v.Open
	u.Characters, u.Requests = u.Characters+v.Characters, u.Requests+v.Requests
	u.Source = v.Source
	return u
}

// UsageSource says who counted.
type UsageSource string

// Who counted.
const (
	UsageProvider UsageSource = "provider"
	UsageCounted  UsageSource = "counted"
)

// CountTokens is the estimate used where no provider counts: a quarter of the
// characters (Unicode code points), rounded up.
func CountTokens(characters int) int { return (characters + 3) / 4 }

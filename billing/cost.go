package billing

// Unit is what vendors of engines bill.
type Unit string

// The units. Seconds are counted in thousandths, all others one by one.
const (
	AudioSeconds        Unit = "audio_seconds" // recognised or made
	OpenSeconds         Unit = "open_seconds"  // that a connection was open
	Characters          Unit = "characters"    // spoken, Unicode code points
	Requests            Unit = "requests"
	TokensIn            Unit = "tokens_in" // of text, read for the first time
	TokensInCached      Unit = "tokens_in_cached"
	TokensInAudio       Unit = "tokens_in_audio" // likewise
	TokensInAudioCached Unit = "tokens_in_audio_cached"
	TokensOut           Unit = "tokens_out"
	TokensOutAudio      Unit = "tokens_out_audio"
)

// Seconds says whether u is counted in thousandths.
func (u Unit) Seconds() bool { return u == AudioSeconds || u == OpenSeconds }

// perUnit is how many of each unit a cost buys: a minute, a million or one.
var perUnit = map[Unit]int64{AudioSeconds: 60_000, OpenSeconds: 60_000, Requests: 1, Characters: perMillion,
	TokensIn: perMillion, TokensInCached: perMillion, TokensInAudio: perMillion, TokensInAudioCached: perMillion, TokensOut: perMillion, TokensOutAudio: perMillion}

// CostKeys are the units by what an operator calls their costs.
var CostKeys = map[string]Unit{"audio_minute": AudioSeconds, "open_minute": OpenSeconds, "request": Requests, "million_characters": Characters,
	"million_tokens_in": TokensIn, "million_tokens_in_cached": TokensInCached, "million_tokens_in_audio": TokensInAudio,
	"million_tokens_in_audio_cached": TokensInAudioCached, "million_tokens_out": TokensOut, "million_tokens_out_audio": TokensOutAudio}

// Costs are what a vendor charges the operator: for a minute, a million characters or tokens, or a request.
type Costs map[Unit]Money

// Of is the cost of n of a unit, half a nano-dollar rounded up; ok is false where it is not known.
func (c Costs) Of(u Unit, n int64) (cost Money, ok bool) {
	price, known := c[u]
	if !known || n < 0 {
		return 0, false
	}
	return mulDiv(n, rate{price, perUnit[u]})
}

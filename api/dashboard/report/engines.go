package report

import (
	"cmp"
	"slices"
	"strconv"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/billing"
)

// usedEngine is what an engine used, as pages show it.
type usedEngine struct{ wire.EngineTotal }

// UsedEngines are several; none: nothing, or it is not known.
type UsedEngines []usedEngine

// EnginesOf is what the engines used in one call.
func EnginesOf(used []wire.EngineUsage) UsedEngines {
	return api.Views(used, func(u *wire.EngineUsage) usedEngine { return usedEngine{wire.EngineTotal{EngineUsage: *u}} })
}

// Costs says whether what vendors charge the operator is shown, to operators.
func (list UsedEngines) Costs() bool {
	return slices.ContainsFunc(list, func(u usedEngine) bool { return u.Cost != nil })
}

// Several says whether it is of several sessions.
func (list UsedEngines) Several() bool {
	return slices.ContainsFunc(list, func(u usedEngine) bool { return u.Sessions > 0 })
}

// stageWords are what engines do, in words.
var stageWords = map[string]string{"asr": "Hearing", "llm": "Answering", "tts": "Speaking", "realtime": "All in one"}

// What is what the engine does.
func (u usedEngine) What() string { return cmp.Or(stageWords[u.Stage], u.Stage) }

// unitWords are what vendors count, in words.
var unitWords = map[billing.Unit]string{
	billing.AudioSeconds: "seconds of audio", billing.OpenSeconds: "seconds of connection", billing.Characters: "characters", billing.Requests: "requests",
	billing.TokensIn: "tokens read", billing.TokensInCached: "tokens read from the cache", billing.TokensOut: "tokens written",
	billing.TokensInAudio: "tokens heard", billing.TokensInAudioCached: "tokens heard from the cache", billing.TokensOutAudio: "tokens spoken",
}

// Amount is how much it used.
func (u usedEngine) Amount() string {
	return strconv.FormatFloat(u.Quantity, 'f', -1, 64) + " " + cmp.Or(unitWords[billing.Unit(u.Unit)], u.Unit)
}

// Paid is what the account pays for it.
func (u usedEngine) Paid() string {
	if u.Price == nil {
		return "included"
	}
	return page.Exact(*u.Price)
}

// Charged is what its vendor charges the operator for it.
func (u usedEngine) Charged() string {
	if u.Cost == nil {
		return "–"
	}
	return page.Exact(*u.Cost)
}

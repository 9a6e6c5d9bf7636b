package wallet

import (
	"cmp"
	"slices"

	"parley/billing"
)

// unit is what a component's quantity counts, and how many of it the rate card's
// price buys.
type unit struct {
	name string
	per  int64
}

var units = func() map[string]unit {
	token := unit{"token", 1_000_000}
	return map[string]unit{
		billing.AgentTime.String():      {"second", 60},
		billing.LineTime.String():       {"minute", 1},
		billing.ReplyIn.String():        token,
		billing.ReplyOut.String():       token,
		billing.SpeculativeIn.String():  token,
		billing.SpeculativeOut.String(): token,
		billing.SummaryIn.String():      token,
		billing.SummaryOut.String():     token,
		billing.TTSChars.String():       {"character", 1_000_000},
		billing.STTTime.String():        {"second", 60},
		billing.DenoiseTime.String():    {"second", 60},
		billing.CRMCalls.String():       {"event", 1},
		billing.WebSearches.String():    {"event", 1},
		numberMonth:                     {"month", 1},
	}
}()

// numberMonth is the component that no session has: a month of a telephone number.
const numberMonth = "number"

// rank is a component's place on a bill.
var rank = func() map[string]int {
	order := map[string]int{}
	for c := range billing.NumComponents {
		order[c.String()] = int(c)
	}
	order[numberMonth] = int(billing.NumComponents)
	return order
}()

// inOrder sorts lines as on a bill.
func inOrder[T any](lines []T, component func(T) string) {
	slices.SortStableFunc(lines, func(a, b T) int { return cmp.Compare(rank[component(a)], rank[component(b)]) })
}

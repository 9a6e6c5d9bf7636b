package agent

import (
	"fmt"
	"strings"

	"parley/pipeline/schema"
)

// Successor is another agent of the account that callers may be handed over to.
type Successor struct {
	Agent       string `json:"agent"`                 // its identifier
	Name        string `json:"name"`                  // what the agent calls it
	Description string `json:"description,omitempty"` // when to hand over to it
	// History is what it is given of the conversation: HistoryAll or HistorySummary.
	History string `json:"history,omitempty"` // HistoryAll
}

// Values of History.
const (
	HistoryAll     = "all"     // everything that was said
	HistorySummary = "summary" // what the agent before it writes
)

// Summarised says that the successor gets a summary in place of what was said.
func (s *Successor) Summarised() bool { return s.History == HistorySummary }

// maxSuccessors bounds the agents that one may hand callers over to.
const maxSuccessors = 16

// checkSuccessors wants names that differ, also for a model that writes them otherwise.
func (s *Settings) checkSuccessors(wrong *schema.Mistakes) {
	seen := map[string]bool{}
	for i := range s.HandOverTo {
		to := &s.HandOverTo[i]
		to.Name, to.Description = strings.TrimSpace(to.Name), strings.TrimSpace(to.Description)
		path := fmt.Sprintf("settings.hand_over_to[%d].name", i)
		switch name := strings.ToLower(to.Name); {
		case name == "":
			wrong.Add(path, "is empty")
		case seen[name]:
			wrong.Add(path, "there are two of %q", to.Name)
		default:
			seen[name] = true
		}
	}
}

// successorsSchema describes whom an agent may hand callers over to.
func successorsSchema() *schema.Schema {
	return schema.List("The agents of the account that hand_over may pass the caller to, in the same call. From then on the other agent conducts it, with its own prompt, voice, "+
		"functions, engines and turn-taking; the recording and the longest duration stay those of the first. Agents whose engine hears and speaks by itself neither hand over nor take over.",
		maxSuccessors, schema.Form("", []*schema.Schema{
			(&schema.Schema{Type: "string", MaxLength: 40, Pattern: `^ag_[a-z0-9]+$`, Form: "must be the identifier of an agent, ag_…", Description: "Its identifier: ag_…, of the same account."}).
				Named("agent", "Agent", schema.Entry{Code: true, Placeholder: "ag_06er5bt0v9k1o7m2q3s4t5u6v0"}),
			needed(line("What the agent calls it. No two have one name.", maxLabel)).
				Named("name", "What the agent calls it", schema.Entry{Placeholder: "Billing", Width: "short", Beside: true}),
			line("When to hand over to it.", maxDescription).
				Named("description", "When to hand over to it", schema.Entry{Placeholder: "Invoices, payments"}),
			schema.OneOf("What it is given of the conversation: all that was said, or a summary that the agent writes; all.", HistoryAll, HistorySummary).Otherwise(HistoryAll).
				Named("history", "What it learns", schema.Entry{Choices: [][2]any{{HistoryAll, "Everything that was said"}, {HistorySummary, "A summary"}}}),
		}, "agent", "name").Named("", "Another agent", schema.Entry{})).
		Named("hand_over_to", "Other agents", schema.Entry{Add: "Add an agent",
			Lead: "Agents that it may pass the caller to, in the same call. It decides by what you write here, and tells the caller first."})
}

package wire

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// CaseScript is the script of a simulated caller, as it was written.
type CaseScript struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (CaseScript) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "object", AdditionalProperties: true,
		Description: "What the caller does and what is expected of the agent, as `parley simulate --schema` describes it; 64 kB at most.",
		Examples:    []any{map[string]any{"caller": []any{map[string]any{"say": "When are you open?", "expect": []any{"nine"}}}}}}
}

// AgentDraft is the document of an agent that is not stored.
type AgentDraft struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (AgentDraft) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[NewAgent](), true, "")
}

// CaseDraft is what a client sets of a test case.
type CaseDraft struct {
	Name   string     `json:"name" doc:"What it is called, 100 characters at most; no other case of the agent has it." minLength:"1" maxLength:"100" example:"Opening hours"`
	Script CaseScript `json:"script"`
}

// Case is a test case of an agent.
type Case struct {
	ID string `json:"id" doc:"Names it." example:"case_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CaseDraft
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
	UpdatedAt time.Time `json:"updated_at" doc:"When it was changed last."`
}

// NewSimulation asks for a simulation.
type NewSimulation struct {
	Cases      []string    `json:"cases,omitempty" doc:"The cases that are run, by their identifiers; without it all of the agent." maxItems:"100" example:"[\"case_06er5bt0v9k1o7m2q3s4t5u6v0\"]"`
	Runs       int         `json:"runs,omitempty" doc:"How often each is run; without it as often as its script says. All runs together are 100 at most." minimum:"0" maximum:"100" example:"1"`
	Definition *AgentDraft `json:"definition,omitempty" doc:"An agent that is not stored, which is tried in place of the one that is."`
}

// Simulation is a run of test cases.
type Simulation struct {
	ID           string     `json:"id" doc:"Names it." example:"sim_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentID      string     `json:"agent_id" doc:"The agent that is tried." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentVersion int64      `json:"agent_version" doc:"Its version when the simulation was asked for." example:"7"`
	Draft        bool       `json:"draft" doc:"Whether a definition is tried that was sent along, and not what is stored."`
	State        string     `json:"state" doc:"How far it is; it is over when it is done, failed or canceled. done says nothing about their results." enum:"queued,running,done,failed,canceled" example:"done"`
	Reason       *string    `json:"reason" doc:"Why it failed, for people; null: it did not." example:"It took longer than 10 minutes."`
	OK           bool       `json:"ok" doc:"Whether it is done and every case passed."`
	Total        int        `json:"cases_total" doc:"Cases that it has." example:"3"`
	Ran          int        `json:"cases_run" doc:"Of these, those that were run." example:"3"`
	Unmet        int        `json:"cases_failed" doc:"Of these, those in which a run failed." example:"0"`
	InTokens     int64      `json:"input_tokens" doc:"Tokens that models read: the agent's, the caller's and the judge's." example:"5230"`
	OutTokens    int64      `json:"output_tokens" doc:"Tokens that they wrote." example:"310"`
	Cost         USD        `json:"cost" doc:"What it has cost by now."`
	CreatedAt    time.Time  `json:"created_at" doc:"When it was asked for."`
	StartedAt    *time.Time `json:"started_at" doc:"When it began; null: it waits."`
	EndedAt      *time.Time `json:"ended_at" doc:"When it ended; null: it has not."`
}

// SimulationDetail is a simulation with what its cases came to.
type SimulationDetail struct {
	Simulation
	Cases []SimulatedCase `json:"cases" doc:"Its cases, in the order in which they are run." nullable:"false"`
}

// SimulatedCase is what a case came to.
type SimulatedCase struct {
	CaseID  string         `json:"case_id" doc:"The case, which may be changed or deleted by now." example:"case_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name    string         `json:"name" doc:"What it was called." example:"Opening hours"`
	OK      *bool          `json:"ok" doc:"Whether no run failed; null: it has not been run."`
	Runs    int            `json:"runs" doc:"How often it was run." example:"1"`
	Failed  int            `json:"failed" doc:"Of these, how often something was not as expected." example:"0"`
	Results []SimulatedRun `json:"results" doc:"Each run; very many are not all kept." nullable:"false"`
}

// SimulatedRun is one simulated conversation.
type SimulatedRun struct {
	Run        int                 `json:"run" doc:"Which of the case's, from 1." example:"1"`
	OK         bool                `json:"ok" doc:"Whether all was as expected."`
	Problem    string              `json:"problem,omitempty" doc:"Why it could not be played to its end." example:""`
	Ended      string              `json:"ended" doc:"Why the conversation ended." example:"user_hangup"`
	LengthMS   int64               `json:"length_ms" doc:"How long it was, in simulated time." example:"9400"`
	Checks     []SimulatedCheck    `json:"checks" doc:"Each expectation and criterion." nullable:"false"`
	Transcript []SimulatedLine     `json:"transcript" doc:"The lines of the caller and the agent, in the order of time." nullable:"false"`
	Functions  []SimulatedFunction `json:"functions" doc:"Functions that the agent called." nullable:"false"`
	Turns      []SimulatedTurn     `json:"turns" doc:"The latency of each turn." nullable:"false"`
	Cut        bool                `json:"cut,omitempty" doc:"Whether transcript, functions and turns are left out, for the results are too long."`
}

// SimulatedCheck is an expectation and whether it was met.
type SimulatedCheck struct {
	Expected string `json:"expected" doc:"What is expected." example:"step 1: says \"nine\""`
	OK       bool   `json:"ok" doc:"Whether it is so."`
	Found    string `json:"found,omitempty" doc:"What was there instead." example:""`
	Reason   string `json:"reason,omitempty" doc:"Of a criterion: why, as the model says." example:""`
}

// SimulatedLine is a line of a simulated conversation.
type SimulatedLine struct {
	AtMS int64  `json:"at_ms" doc:"When it was said, in milliseconds of the call." example:"2100"`
	Role string `json:"role" doc:"Who said it." enum:"user,agent" example:"agent"`
	Text string `json:"text" doc:"The words of the line." example:"We are open from nine to six."`
}

// SimulatedFunction is a function that the agent called, of which nothing ran.
type SimulatedFunction struct {
	AtMS      int64  `json:"at_ms" doc:"When it was called, in milliseconds of the call." example:"4200"`
	Name      string `json:"name" doc:"Its name." example:"book_table"`
	Arguments string `json:"arguments,omitempty" doc:"What it was called with, JSON." example:"{\"people\":4}"`
}

// SimulatedTurn is where the time of a turn went, in milliseconds.
type SimulatedTurn struct {
	Turn       int   `json:"turn" doc:"Which, from 1." example:"1"`
	EndpointMS int64 `json:"endpoint_ms" doc:"Until the caller's turn was over." example:"300"`
	ModelMS    int64 `json:"model_ms" doc:"Until the model's first sentence." example:"350"`
	VoiceMS    int64 `json:"voice_ms" doc:"Until its audio." example:"120"`
	TotalMS    int64 `json:"total_ms" doc:"From the end of the caller's speech to the agent's." example:"770"`
}

// NewComparison asks for a comparison of an agent with its recorded calls.
type NewComparison struct {
	Definition *AgentDraft `json:"definition,omitempty" doc:"An agent that is not stored, which is compared in place of the one that is."`
	Version    int64       `json:"version,omitempty" doc:"The version that is compared; without it, and without definition, the current one." minimum:"1" example:"7"`
	Against    int64       `json:"against,omitempty" doc:"The version that it is compared with; without it the calls as they were." minimum:"1" example:"6"`
	Calls      int         `json:"calls,omitempty" doc:"How many of the latest recorded calls." minimum:"1" maximum:"20" default:"10"`
	Models     string      `json:"models,omitempty" doc:"Whether the models answer each turn again, which is charged like simulations, or give what they gave, which is free and shows turn-taking alone." enum:"asked,recorded" default:"asked" example:"asked"`
}

// Comparison is what would differ in recorded calls.
type Comparison struct {
	Calls     []ComparedCall `json:"calls" doc:"The calls, the newest first; empty: none of the agent's latest was recorded." nullable:"false"`
	InTokens  int64          `json:"in_tokens" doc:"Tokens that the models have read." example:"8120"`
	OutTokens int64          `json:"out_tokens" doc:"Tokens that they have written." example:"460"`
	LeftOut   int            `json:"left_out" doc:"Turns that the models were not asked about." example:"0"`
	Stopped   string         `json:"stopped,omitempty" doc:"Why turns were left out: there are more than 100, the time was over, or the balance or a limit of spending was used up." enum:"turns,time,balance" example:"turns"`
}

// ComparedCall is what would differ in a call.
type ComparedCall struct {
	CallID       string         `json:"call_id" doc:"The call." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	StartedAt    time.Time      `json:"started_at" doc:"When it began."`
	AgentVersion *int64         `json:"agent_version" doc:"The version of the agent that it ran with; null: not known." example:"5"`
	Outcome      string         `json:"outcome" doc:"Whether anything differs; unreadable when what is kept of the call cannot be conducted again, skipped when there was no time for it." enum:"same,differs,unreadable,skipped" example:"differs"`
	TurnsTotal   int            `json:"turns_total" doc:"How many turns there are, in one of the two or in both." example:"8"`
	Turns        []ComparedTurn `json:"turns" doc:"The turns that differ." nullable:"false"`
	EndedThen    string         `json:"ended_then,omitempty" doc:"Why it ended; absent: that was not kept." example:"user_hangup"`
	EndedNow     string         `json:"ended_now,omitempty" doc:"Why it would end." example:"user_hangup"`
	Unheard      int            `json:"unheard,omitempty" doc:"Replies that the record has no words for: a sentence of the same kind stands in for each." example:"1"`
	// Answers are what the models say.
	Answers []ComparedAnswer `json:"answers" doc:"What the models say in each turn of the recorded call, up to where another agent took it over; empty: they were not asked." nullable:"false"`
}

// ComparedAnswer is a turn of a recorded call, answered again after what was said before it in that call.
type ComparedAnswer struct {
	Turn     int         `json:"turn" doc:"From 1; 0 is the first message." example:"2"`
	Heard    string      `json:"heard" doc:"What the caller said." example:"what time do you open"`
	Recorded AnswerSide  `json:"recorded" doc:"What the agent did in the call: its words as far as they were heard."`
	Then     *AnswerSide `json:"then,omitempty" doc:"What it does in the version compared with; absent: it is compared with the calls as they were."`
	Now      AnswerSide  `json:"now" doc:"What it does in the version, or the draft, that is compared."`
	Differs  bool        `json:"differs" doc:"Now says or calls something else than then, or without that than the call."`
}

// AnswerSide is what an agent says and calls in a turn.
type AnswerSide struct {
	Text      string             `json:"text" doc:"Its words." example:"We are open from nine to six."`
	Functions []ComparedFunction `json:"functions" doc:"The functions that it calls, in their order." nullable:"false"`
	Failed    bool               `json:"failed,omitempty" doc:"The model did not answer."`
}

// ComparedFunction is a function that a model calls in a turn that it answers again. None is run.
type ComparedFunction struct {
	Name      string `json:"name" doc:"Its name." example:"order_status"`
	Arguments string `json:"arguments,omitempty" doc:"What it is called with, JSON." example:"{\"order\":\"4711\"}"`
	Recorded  bool   `json:"recorded" doc:"It was called so in the recorded turn, and its result was given again. False: it would be called, and the answer ends there."`
}

// ComparedTurn is a turn that differs; the caller's words line turns up.
type ComparedTurn struct {
	Then *TurnSide `json:"then" doc:"As it was, or is with the version compared with; null: there was no such turn."`
	Now  *TurnSide `json:"now" doc:"As it would be; null: there would be no such turn."`
}

// TurnSide is a turn as it was, or would be.
type TurnSide struct {
	Turn        int      `json:"turn" doc:"From 1; 0 is what is before the caller's first turn." example:"2"`
	AtMS        int64    `json:"at_ms" doc:"When the caller was taken to be done, from the beginning of the call." example:"5400"`
	Heard       string   `json:"heard" doc:"What the caller said." example:"what time do you open"`
	Said        string   `json:"said" doc:"What the agent said, as far as it was heard." example:"We are open from nine to six."`
	Functions   []string `json:"functions" doc:"The functions that were called." nullable:"false" example:"[\"order_status\"]"`
	Interrupted bool     `json:"interrupted" doc:"The caller interrupted the agent."`
	LatencyMS   *int64   `json:"latency_ms" doc:"From the end of the caller's speech to the first sound of the answer; null: there was none." example:"430"`
}

package wire

// Statistics are what the calls of some days come to.
type Statistics struct {
	From     string           `json:"from" doc:"The first day, UTC." format:"date" example:"2026-03-01"`
	To       string           `json:"to" doc:"The day after the last." format:"date" example:"2026-03-31"`
	Total    CallFigures      `json:"total" doc:"All calls together."`
	Days     []DayFigures     `json:"by_day" doc:"The days that have calls, the oldest first; empty: there are none, or they were not asked for." nullable:"false"`
	Agents   []AgentFigures   `json:"by_agent" doc:"The agents that have calls, by their number, the most first: at most 100. Empty: there are none, or they were not asked for." nullable:"false"`
	Outcomes []OutcomeFigures `json:"by_outcome" doc:"How calls ended, the most frequent first." nullable:"false"`
	Stages   []StageLatency   `json:"stages" doc:"How long turns waited, by stage and engine." nullable:"false"`
}

// CallFigures are what some calls come to that are over.
type CallFigures struct {
	Calls      int64    `json:"calls" doc:"How many have ended." example:"120"`
	Answered   int64    `json:"answered" doc:"How many of them were answered; on a WebSocket, had a first prompt." example:"96"`
	AnswerRate *float64 `json:"answer_rate" doc:"That as a share of all, with four digits; null: there are no calls." example:"0.8"`
	Duration   int64    `json:"duration" doc:"Seconds since their answers, all together." example:"18240"`
	Cost       USD      `json:"cost" doc:"What they have cost, with what was charged for them after their end."`
}

// DayFigures are those of a day.
type DayFigures struct {
	Day string `json:"day" doc:"On which they began, UTC." format:"date" example:"2026-03-01"`
	CallFigures
	P50 *int64 `json:"p50_ms" doc:"Half of their turns waited no longer from the caller's last word to the first audio, in milliseconds, within 4.5 %; null: no turn was answered." example:"820"`
	P95 *int64 `json:"p95_ms" doc:"95 of a hundred, likewise." example:"1310"`
}

// AgentFigures are those of an agent.
type AgentFigures struct {
	AgentID *string `json:"agent_id" doc:"The agent, which may have been deleted since; null: of no agent of the account." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CallFigures
}

// OutcomeFigures are how many calls ended in one way.
type OutcomeFigures struct {
	EndReason string `json:"end_reason" doc:"Why they ended." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown" example:"user_hangup"`
	Calls     int64  `json:"calls" doc:"How many." example:"80"`
}

// StageLatency is how long turns waited for a stage, and who served it.
type StageLatency struct {
	Stage  string  `json:"stage" doc:"total: from the caller's last word to the first audio. endpoint: to the decision that the caller has finished. asr: to the last of their words as text. llm: from that decision to the model's first words. tts: from the first whole sentence to the voice's first audio." enum:"total,endpoint,asr,llm,tts" example:"llm"`
	Engine *string `json:"engine" doc:"The engine, as settings of agents name it; null: several served the call, it is not known, or the stage has none." example:"haiku"`
	Turns  int64   `json:"turns" doc:"How many turns waited." example:"310"`
	P50    int64   `json:"p50_ms" doc:"Half of them waited no longer, in milliseconds, within 4.5 %." example:"310"`
	P95    int64   `json:"p95_ms" doc:"95 of a hundred, likewise." example:"740"`
}

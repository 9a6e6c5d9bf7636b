package wire

import "time"

// CallSummary is a call without what was said in it.
type CallSummary struct {
	ID         string     `json:"id" doc:"Of the call and its session: the receipt has the same." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentID    *string    `json:"agent_id" doc:"The agent that spoke; null when the client brought its own prompt. It may have been deleted since." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Version    *int64     `json:"agent_version" doc:"The agent's version that it ran with; null when it had none." example:"7"`
	Direction  string     `json:"direction" doc:"Over a WebSocket, to one of the account's numbers, or placed by an agent." enum:"web,inbound,outbound" example:"inbound"`
	From       string     `json:"from" doc:"Who called; empty on a WebSocket." example:"+34612345678"`
	To         string     `json:"to" doc:"Who was called." example:"+34911234567"`
	Status     string     `json:"status" doc:"Status of the call." enum:"dialing,ringing,connected,ended" example:"ended"`
	CreatedAt  time.Time  `json:"created_at" doc:"When it began to ring, to be dialled or to be set up."`
	AnsweredAt *time.Time `json:"answered_at" doc:"When it was answered and began to cost; null: never."`
	EndedAt    *time.Time `json:"ended_at" doc:"Null while it lasts."`
	Duration   int64      `json:"duration" doc:"Whole seconds since the answer; 0 before." example:"193"`
	EndReason  *string    `json:"end_reason" doc:"Why it ended; null while it lasts." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown" example:"user_hangup"`
	EndDetail  *string    `json:"end_detail" doc:"The finer cause, if there is one." example:"media_timeout"`
	Cost       USD        `json:"cost" doc:"What it has cost so far."`
	AnsweredBy *string    `json:"answered_by" doc:"Who answered a call that an agent placed: a person, an answering machine, an assistant that screens calls, or it could not be told; null: nobody answered, or the call came in." enum:"human,machine,screening,unknown" example:"human"`
	Verstat    *string    `json:"verstat" doc:"What the carrier of a call that came in says of the caller's number (ATIS-1000074), such as TN-Validation-Passed or TN-Validation-Failed; null: nothing." example:"TN-Validation-Passed"`
	DeletedAt  *time.Time `json:"deleted_at" doc:"When what was said in it was deleted, on request or because the account had kept it long enough; null: it was not."`
	MOS        *float64   `json:"mos" doc:"How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known." example:"4.36"`
	// Demonstration is absent of calls that took place.
	Demonstration bool `json:"demonstration,omitempty" doc:"It came with the demonstration: it was recorded on another server, and nobody called. Absent: somebody did."`
}

// CallDetail is a call with what was said in it.
type CallDetail struct {
	CallSummary
	Transcript []CallLine   `json:"transcript" doc:"What was said." nullable:"false"`
	Omitted    int          `json:"transcript_omitted,omitempty" doc:"Lines that followed and were not kept: a transcript has 5,000 lines and about 512 kB at most." example:"12"`
	Turns      []CallTurn   `json:"turns" doc:"How long each answer took." nullable:"false"`
	Engines    *CallEngines `json:"engines,omitempty" doc:"The engines that served it, in the order in which they began to: after the first come those that took over. Absent while it lasts, and when it is not known."`
	// Recording and Analysis are not in what webhooks are told.
	Recording *CallRecording `json:"recording,omitempty" doc:"Its recording; absent: it was not recorded."`
	Analysis  *CallAnalysis  `json:"analysis,omitempty" doc:"What the agent's language model made of it after its end; absent: the agent wants nothing of it."`
}

// CallLine is one thing that was said.
type CallLine struct {
	Role string  `json:"role" doc:"Who said it." enum:"user,agent" example:"agent"`
	Text string  `json:"text" doc:"The words; of the agent's those that were heard." example:"We are open until eight."`
	At   float64 `json:"at" doc:"Seconds since the answer: when the agent's line was over, or the caller's was taken to be." example:"3.2"`

	Words       []CallWord `json:"words,omitempty" doc:"The words of the text, in order, and when they were said. Absent: they were typed, or the line is of a call before they were kept."`
	Estimated   bool       `json:"words_estimated,omitempty" doc:"The times of the words are an estimate, of some or of all: the speech recognition or the voice gave none. The words then share the caller's speech, pauses left out, or the audio of the sentence, by their length."`
	Interrupted *CallCut   `json:"interrupted,omitempty" doc:"The agent was cut off here; absent: it was not."`
}

// CallWord is a word of a line.
type CallWord struct {
	Text    string `json:"text" doc:"As it stands in the line." example:"open"`
	StartMS int64  `json:"start_ms" doc:"When it began, in milliseconds since the answer." example:"2410"`
	EndMS   int64  `json:"end_ms" doc:"When it was over." example:"2680"`
}

// CallCut is where a line of the agent's was cut off.
type CallCut struct {
	AtMS    int64  `json:"at_ms" doc:"When, in milliseconds since the answer: the caller spoke over it, hung up, or was connected to somebody." example:"4300"`
	Unheard string `json:"unheard" doc:"What the agent would have said further, as far as it was made: nobody heard it, and the model is not told of it." example:"Shall I book a table for you?"`
}

// CallTurn is where the time of one turn of the agent went. Its fields are those
// that pipeline stores.
type CallTurn struct {
	Turn       int   `json:"turn" doc:"1, 2, 3…" example:"1"`
	Generation int   `json:"generation" doc:"Of the reply." example:"2"`
	AtMS       int64 `json:"at_ms" doc:"When the reply was first heard, since the answer." example:"5120"`
	EndpointMS int64 `json:"endpoint_ms" doc:"From the caller's last word to the decision that they have finished." example:"420"`
	ModelMS    int64 `json:"model_ms" doc:"The wait for the model after that, until its first words; little when the reply was begun in advance." example:"310"`
	VoiceMS    int64 `json:"voice_ms" doc:"The wait after them, for the rest of the first sentence and the first audio." example:"95"`
	TotalMS    int64 `json:"total_ms" doc:"From the last word to the first audio. What the other three do not add up to is the server's own time." example:"825"`

	Points *CallPoints `json:"points,omitempty" doc:"The six points of the turn; absent in calls of before they were kept."`
}

// CallPoints are the six points of a turn. All but the first are counted from the first,
// so their sum with it is a time of the call.
type CallPoints struct {
	SpeechEndMS     int64  `json:"speech_end_ms" doc:"When the caller's speech ended, in milliseconds since the answer; of a typed turn, when it was typed. The other points are milliseconds after it." example:"4295"`
	FinalTextMS     *int64 `json:"final_text_ms" doc:"The last of the caller's words was recognised for good; null: the turn was typed, or answered before. Below 0 when the recognition was ahead of the caller's last sound." example:"120"`
	FirstTokenMS    *int64 `json:"first_token_ms" doc:"The language model wrote its first words. It may have been asked before the turn was over. Of a reply that follows a function, the words after it." example:"640"`
	FirstSentenceMS *int64 `json:"first_sentence_ms" doc:"Its first sentence was complete, and went to the voice." example:"730"`
	FirstAudioMS    *int64 `json:"first_audio_ms" doc:"The voice gave its first audio." example:"815"`
	FirstPacketMS   *int64 `json:"first_packet_ms" doc:"The first of it was sent to the caller." example:"825"`
}

// CallRecording is the recording of a call.
type CallRecording struct {
	State     string     `json:"state" doc:"Status of the recording; failed has no audio." enum:"recording,encoding,ready,failed,deleted" example:"ready"`
	Duration  float64    `json:"duration" doc:"Seconds; 0 before it has ended." example:"193.4"`
	Format    *string    `json:"format" doc:"What it is kept as; null until it is ready." enum:"ogg,wav" example:"ogg"`
	Bytes     int64      `json:"bytes" doc:"Size of the file." example:"1160400"`
	ExpiresAt *time.Time `json:"expires_at" doc:"Until when it is kept; null: it is not any more."`
	DeletedAt *time.Time `json:"deleted_at" doc:"When it was deleted; null: it was not."`
	DeletedBy *string    `json:"deleted_by" doc:"Somebody's request, or because the account had kept it long enough." enum:"request,expiry" example:"expiry"`
}

// CallAnalysis is what the agent's language model made of a call after its end.
type CallAnalysis struct {
	State   string         `json:"state" doc:"Status of the analysis. failed: given up, though the summary may be there; skipped: not tried." enum:"waiting,done,failed,skipped" example:"done"`
	Reason  *string        `json:"reason" doc:"Why it failed or was skipped: no language model answered; its answer did not fit the schema, twice; the balance was used up; nothing was said; the agent's settings cannot be read; or the call was deleted." enum:"engine,answer,balance,silence,schema,deleted" example:"answer"`
	Detail  *string        `json:"detail" doc:"The same in a sentence, if there is more to say." example:"data.day: is missing"`
	Summary *string        `json:"summary" doc:"What the call came to; null: not asked for, or not there." example:"Bob books a table for four on Friday."`
	Data    map[string]any `json:"data" doc:"What was taken out of the transcript, as the agent's schema wants it; null likewise." nullable:"true" example:"{\"day\":\"Friday\",\"people\":4}"`
	DoneAt  *time.Time     `json:"done_at" doc:"When it was finished; null: it waits."`
}

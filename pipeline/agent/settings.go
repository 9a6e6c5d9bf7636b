package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/spoken"
	"parley/media"
	"parley/pipeline/schema"
	"parley/pipeline/turn"
)

// Settings are what an agent may change of a conversation's behaviour. A nil
// field keeps the default.
type Settings struct {
	// Timings of turn-taking, in milliseconds.
	MinEndpointMS *int `json:"min_endpoint_ms,omitempty"` // 100 to 2000; 950, or 450 when an engine judges the pause
	MaxEndpointMS *int `json:"max_endpoint_ms,omitempty"` // 300 to 6000; 2400
	BargeInMS     *int `json:"barge_in_ms,omitempty"`     // 200 to 3000; 600
	// Turns is what ends the caller's turn: "words", those that were said and the silence after them, or "engine", the
	// recogniser, which must find the ends of turns.
	Turns *string `json:"turns,omitempty"` // engine with a recogniser that does
	// Interruptible is "always", "never" or "after_first_sentence";
	// FirstMessageInterruptible is the policy of the first message alone.
	Interruptible             *string `json:"interruptible,omitempty"`
	FirstMessageInterruptible *string `json:"first_message_interruptible,omitempty"`
	// KeyInterrupts says that a key which the caller presses interrupts, where speech
	// would; true.
	KeyInterrupts *bool `json:"key_interrupts,omitempty"`

	IdleSeconds   *int `json:"idle_seconds,omitempty"`   // 0 (never) to 600; 10
	IdleReprompts *int `json:"idle_reprompts,omitempty"` // 0 to 10; 2

	// Record keeps the audio of the agent's calls; false. Callers must know.
	Record *bool `json:"record,omitempty"`
	// RecordTransfers goes on after the caller has been connected to somebody; false.
	RecordTransfers *bool `json:"record_transfers,omitempty"`
	// ListeningTone plays a tone to everybody in the call when a supervisor begins to listen in, and every 15 s after that; false.
	ListeningTone *bool `json:"listening_tone,omitempty"`
	// Stream sends the audio of the agent's calls on while they go on. Callers must know.
	Stream *Stream `json:"stream,omitempty"`

	MaxDurationSeconds *int `json:"max_duration_seconds,omitempty"` // 10 to 7200; 7200
	// RingMS is how long an incoming telephone call rings before it is answered.
	RingMS *int `json:"ring_ms,omitempty"` // 0 to 30000; 1000

	// Goodbye is what the agent says when a limit ends the call.
	Goodbye *string `json:"goodbye,omitempty"`
	// Phrases are texts that callers are expected to say.
	Phrases []string `json:"phrases,omitempty"`
	// Pronunciation says how words are pronounced, whole words in any case.
	Pronunciation []spoken.Entry `json:"pronunciation,omitempty"` // 500 at most, 200 bytes a text

	// TransferTo is whom transfer_call may hand telephone calls over to; TransferAny: any
	// number too that may be called.
	TransferTo  []Destination `json:"transfer_to,omitempty"`  // 32 at most
	TransferAny *bool         `json:"transfer_any,omitempty"` // false
	// HoldSound is what callers hear while this server calls somebody for them: HoldRinging, HoldMusic, or a sound of the account.
	HoldSound *string `json:"hold_sound,omitempty"` // HoldRinging
	// HoldAnnouncementSeconds is how often the agent tells such callers that they are on hold, HoldAnnouncement what it says.
	HoldAnnouncementSeconds *int    `json:"hold_announcement_seconds,omitempty"` // 0 (never), or 20 to 300; 0
	HoldAnnouncement        *string `json:"hold_announcement,omitempty"`         // a sentence in its language
	// HandOverTo is whom hand_over may pass the caller to: other agents of the account.
	HandOverTo []Successor `json:"hand_over_to,omitempty"` // 16 at most
	// Steps are the parts of the conversation; the agent begins at the first.
	Steps []Step `json:"steps,omitempty"` // 32 at most
	// The other functions of telephone calls may be taken from the agent.
	SendDTMF      *bool `json:"send_dtmf,omitempty"`      // true
	CollectDigits *bool `json:"collect_digits,omitempty"` // true
	OptOut        *bool `json:"opt_out,omitempty"`        // true
	// SendSMS offers send_sms, which costs the account; false. SMSFrom is the number that messages come from, E.164; the
	// account's number of the call.
	SendSMS *bool   `json:"send_sms,omitempty"`
	SMSFrom *string `json:"sms_from,omitempty"`

	// SpeculativeLLM begins replies in the caller's pauses; as the rate card says.
	SpeculativeLLM *bool `json:"speculative_llm,omitempty"`
	// SpeculativeVoice speaks their first sentence in advance even by a voice that is not
	// on this machine; false.
	SpeculativeVoice *bool `json:"speculative_voice,omitempty"`

	Speed *float64 `json:"speed,omitempty"` // 0.5 to 2; 1, the voice's own pace
	// Variables are those that the agent's texts may name, with their values when
	// nobody gives any.
	Variables map[string]string `json:"variables,omitempty"`
	// PublicVariables are the names of those that strangers may set, who hold a session ticket.
	PublicVariables []string  `json:"public_variables,omitempty"`
	Timezone        *string   `json:"timezone,omitempty"` // of {{now}}, as IANA names it; UTC
	Knowledge       []Snippet `json:"knowledge,omitempty"`
	// KnowledgeBases are the account's collections of documents that are searched, 10 at most; KnowledgeMode is when: by
	// "function", as the model wants, or each "turn".
	KnowledgeBases []string `json:"knowledge_bases,omitempty"`
	KnowledgeMode  *string  `json:"knowledge_mode,omitempty"` // function
	// RecordingNotice is said before the first message, word for word and to its end.
	RecordingNotice *string `json:"recording_notice,omitempty"`
	// OnMachine and MachineMessage are for outbound calls that say nothing of it.
	OnMachine      *string `json:"on_machine,omitempty"` // continue
	MachineMessage *string `json:"machine_message,omitempty"`

	Engines  *Engines  `json:"engines,omitempty"`
	Analysis *Analysis `json:"analysis,omitempty"`
}

// Snippet is something an agent knows.
type Snippet struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Bounds of a conversation that no agent sets.
const (
	DefaultMaxDuration = 2 * time.Hour
	DefaultRing        = time.Second
	maxPhrases         = 2000
	verdictAfter       = 100 * media.Millisecond
)

// ParseSettings reads an agent's settings; null, also of a field, is as if it were not
// there. The error is schema.Mistakes, whose paths begin with "settings". What could be
// read is returned all the same.
func ParseSettings(data []byte) (Settings, error) {
	var s Settings
	var members map[string]json.RawMessage
	if len(bytes.TrimSpace(data)) == 0 || string(bytes.TrimSpace(data)) == "null" {
		return s, nil
	}
	if json.Unmarshal(data, &members) == nil {
		maps.DeleteFunc(members, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
		data, _ = json.Marshal(members) // what was read can be written
	}
	wrong := SettingsSchema.Read("settings", data)
	if err := json.Unmarshal(data, &s); err != nil && len(wrong) == 0 {
		wrong.Add("settings", "%v", err)
	}
	s.check(&wrong)
	return s, wrong.Err()
}

// check says what no schema can, and brings the list of destinations into the form that
// is kept.
func (s *Settings) check(wrong *schema.Mistakes) {
	if !wrong.Within("settings.transfer_to") {
		s.checkTransfers(wrong)
	}
	if !wrong.Within("settings.hand_over_to") {
		s.checkSuccessors(wrong)
	}
	if !wrong.Within("settings.steps") {
		s.checkSteps(wrong)
	}
	if !wrong.Within("settings.pronunciation") {
		if err := spoken.Check(s.Pronunciation); err != nil {
			wrong.Add("settings.pronunciation", "%s", strings.TrimPrefix(err.Error(), "pronunciation: "))
		}
	}
	if s.Timezone != nil {
		if _, err := time.LoadLocation(*s.Timezone); err != nil || *s.Timezone == "Local" {
			wrong.Add("settings.timezone", "%q, must be a time zone such as Europe/Madrid", *s.Timezone)
		}
	}
	if or(s.OnMachine, "") == string(LeaveMessage) && strings.TrimSpace(or(s.MachineMessage, "")) == "" {
		wrong.Add("settings.machine_message", "is missing, on_machine message needs it")
	}
	if _, taken := s.Variables["now"]; taken {
		wrong.Add("settings.variables.now", "is set by the server")
	}
	for i, name := range s.PublicVariables {
		if _, declared := s.Variables[name]; !declared {
			wrong.Add(fmt.Sprintf("settings.public_variables[%d]", i), "there is no variable %q", name)
		}
	}
	s.checkStream(wrong)
	s.checkAfter(wrong)
}

// or is what a setting says, or what counts when it says nothing.
func or[T any](setting *T, otherwise T) T {
	if setting != nil {
		return *setting
	}
	return otherwise
}

// policies are the values of Interruptible.
var policies = map[string]turn.Policy{"always": turn.Always, "never": turn.Never, "after_first_sentence": turn.AfterFirst}

// Turn is the turn-taking that the settings ask for in a language.
func (s *Settings) Turn(language string) turn.Config {
	c := turn.DefaultConfig(language)
	s.Retune(&c)
	return c
}

// Retune changes turn-taking by what the settings say of it.
func (s *Settings) Retune(c *turn.Config) {
	set := func(to *media.Time, from *int, unit media.Time) {
		if from != nil {
			*to = media.Time(*from) * unit
		}
	}
	set(&c.MinDelay, s.MinEndpointMS, media.Millisecond)
	set(&c.ScoredDelay, s.MinEndpointMS, media.Millisecond)
	set(&c.MaxDelay, s.MaxEndpointMS, media.Millisecond)
	if s.MinEndpointMS == nil {
		c.MinDelay = min(c.MinDelay, c.MaxDelay)
	}
	c.MaxDelay = max(c.MaxDelay, c.MinDelay)
	set(&c.BargeInAfter, s.BargeInMS, media.Millisecond)
	c.FalseInterruptionTimeout = max(c.FalseInterruptionTimeout, c.BargeInAfter+verdictAfter) // or nobody could speak for so long
	set(&c.Idle, s.IdleSeconds, media.Second)
	set(&c.Announce, s.HoldAnnouncementSeconds, media.Second)
	c.Reprompts, c.Keys = or(s.IdleReprompts, c.Reprompts), or(s.KeyInterrupts, c.Keys)
	if s.Interruptible != nil {
		c.Barge = policies[*s.Interruptible]
		c.Greeting = c.Barge
	}
	if s.FirstMessageInterruptible != nil {
		c.Greeting = policies[*s.FirstMessageInterruptible]
	}
	if or(s.RecordingNotice, "") != "" {
		c.Greeting = turn.Never
	}
}

// engineTurns is the Turns that leaves them to the recogniser.
const engineTurns = "engine"

// EngineTurns says whether a recogniser ends the caller's turns, as one that can does unless the settings say otherwise.
func (s *Settings) EngineTurns(recogniser inference.Info) bool {
	return or(s.Turns, engineTurns) == engineTurns && recogniser.Caps.Turns
}

// Values of KnowledgeMode.
const (
	knowledgeFunction = "function"
	knowledgeTurn     = "turn"
)

// LooksUpEachTurn says whether documents are searched in each turn, and not when the model wants it.
func (s *Settings) LooksUpEachTurn() bool {
	return or(s.KnowledgeMode, knowledgeFunction) == knowledgeTurn
}

// Speculate says whether replies are begun in pauses, where the rate card says so
// unless the agent does.
func (s *Settings) Speculate(unless bool) bool { return or(s.SpeculativeLLM, unless) }

// Dictionary is how the agent pronounces words; nil when it says nothing of it.
func (s *Settings) Dictionary() *spoken.Dictionary { return spoken.NewDictionary(s.Pronunciation) }

// MaxDuration is the longest the agent's calls may be.
func (s *Settings) MaxDuration() time.Duration {
	return time.Duration(or(s.MaxDurationSeconds, int(DefaultMaxDuration/time.Second))) * time.Second
}

// Ring is how long a call to the agent rings.
func (s *Settings) Ring() time.Duration {
	return time.Duration(or(s.RingMS, int(DefaultRing/time.Millisecond))) * time.Millisecond
}

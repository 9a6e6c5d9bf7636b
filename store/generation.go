package store

// Generation is what one run of the language model consumed.
type Generation struct {
	Gen       int
	Turn      int
	Kind      string // reply, speculative or summary
	Outcome   string // committed, interrupted, discarded or failed
	InTokens  int64
	OutTokens int64
	Source    string // who counted: provider or counted
	Engine    string // that answered; empty: not known, or none
}

// ServedBy is which engines served a call, by stage, in the order in which they began to.
type ServedBy struct {
	ASR []string `json:"asr"`
	LLM []string `json:"llm"`
	TTS []string `json:"tts"`
}

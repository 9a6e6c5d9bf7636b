package gemini

import (
	"encoding/json"
	"errors"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/remote"
)

// reply reads one streamed answer.
type reply struct {
	*remote.Reply
	called bool // a function
}

// event is one of the stream's, a piece of the answer.
type event struct {
	Candidates []struct {
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		Blocked string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage        `json:"usageMetadata"`
	Error *remote.Named `json:"error"`
}

// usage is in tokens, cumulative for the answer. The prompt contains what was cached, the candidates not the thoughts.
type usage struct {
	Prompt   int `json:"promptTokenCount"`
	Cached   int `json:"cachedContentTokenCount"`
	Tools    int `json:"toolUsePromptTokenCount"`
	Answer   int `json:"candidatesTokenCount"`
	Thoughts int `json:"thoughtsTokenCount"`
}

// finishes are Gemini's names for why a model stopped.
var finishes = map[string]inference.Finish{
	"STOP": inference.FinishStop, "MAX_TOKENS": inference.FinishLength,
	"SAFETY": inference.FinishFiltered, "RECITATION": inference.FinishFiltered, "BLOCKLIST": inference.FinishFiltered,
	"PROHIBITED_CONTENT": inference.FinishFiltered, "SPII": inference.FinishFiltered, "LANGUAGE": inference.FinishFiltered,
}

// take handles one event. No event says that it is the last: the stream ends after one with a reason to stop.
func (p *reply) take(data []byte) error {
	var e event
	if err := p.Decode(data, &e); err != nil {
		return err
	}
	if e.Error != nil {
		return p.Refused(*e.Error)
	}
	if e.Feedback.Blocked != "" {
		p.Finish, p.Done = inference.FinishFiltered, true
	}
	p.consumed(e.Usage)
	if len(e.Candidates) == 0 {
		return nil
	}
	for _, raw := range e.Candidates[0].Content.Parts {
		if err := p.part(raw); err != nil {
			return err
		}
	}
	switch reason := e.Candidates[0].Finish; reason {
	case "", "FINISH_REASON_UNSPECIFIED":
		return nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
		return p.Fault(inference.ErrFailed, errors.New("a broken tool call"))
	default:
		p.Finish, p.Done = finishes[reason], true
	}
	if p.called && p.Finish == inference.FinishStop {
		p.Finish = inference.FinishTools
	}
	return nil
}

// consumed takes what Gemini counted. Of an answer that it has not counted yet we count what comes.
func (p *reply) consumed(u *usage) {
	if u == nil {
		return
	}
	p.Usage.In, p.Usage.Cached = max(0, u.Prompt)+max(0, u.Tools), max(0, u.Cached)
	if thoughts := max(0, u.Thoughts); max(0, u.Answer)+thoughts > 0 {
		p.Usage.Out, p.Usage.Reasoning, p.Usage.Source = max(0, u.Answer)+thoughts, thoughts, inference.UsageProvider
	}
}

// part tells a piece of the answer. Signatures stand with calls, with thoughts or alone; one of what is spoken is not kept, because
// the caller may hear less of it.
func (p *reply) part(raw json.RawMessage) error {
	var it struct {
		Text      string `json:"text"`
		Thought   bool   `json:"thought"`
		Signature string `json:"thoughtSignature"`
		Call      *call  `json:"functionCall"`
	}
	if err := p.Decode(raw, &it); err != nil {
		return err
	}
	var back *inference.Part
	if it.Signature != "" {
		back = p.Part(raw)
	}
	switch {
	case it.Call != nil:
		p.called = true
		arguments := it.Call.arguments()
		p.Count(utf8.RuneCountInString(it.Call.Name + arguments))
		return p.Call(inference.ToolCall{ID: it.Call.ID, Name: it.Call.Name, Arguments: arguments}, back)
	case it.Text != "" && !it.Thought:
		p.Count(utf8.RuneCountInString(it.Text))
		return p.Tell(inference.Delta{Text: it.Text})
	case back != nil:
		return p.Tell(inference.Delta{Part: back})
	}
	return nil
}

package openai

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/duplex"
	"parley/inference/remote"
	"parley/media"
)

// realtimeEvent is what counts of an event of OpenAI's.
type realtimeEvent struct {
	Type       string `json:"type"`
	Item       string `json:"item_id"`
	Response   string `json:"response_id"`
	Delta      string `json:"delta"`
	Transcript string `json:"transcript"`
	Call       string `json:"call_id"`
	Name       string `json:"name"`
	Arguments  string `json:"arguments"`
	Output     struct {
		Call string `json:"call_id"`
		Name string `json:"name"`
	} `json:"item"`
	Whole realtimeDone `json:"response"`
	Error struct {
		remoteError
		Event string `json:"event_id"`
	} `json:"error"`
}

// Read implements duplex.Connection.
func (c *conversation) Read(text []byte) error {
	var m realtimeEvent
	if json.Unmarshal(text, &m) != nil {
		return c.Fault(inference.ErrFailed, errors.New("a message that is not JSON"))
	}
	const transcription = "conversation.item.input_audio_transcription."
	switch m.Type {
	case "input_audio_buffer.speech_started":
		c.Report(inference.RealtimeEvent{Kind: inference.RealtimeSpeechStart})
	case "input_audio_buffer.speech_stopped":
		c.Report(inference.RealtimeEvent{Kind: inference.RealtimeSpeechEnd})
	case "input_audio_buffer.committed":
		c.Turn(m.Item, wordsWait)
		c.Reply("")
	case transcription + "delta":
		c.Words(m.Item, m.Delta)
	case transcription + "completed":
		c.Known(m.Item, m.Transcript)
	case transcription + "failed":
		c.Known(m.Item, duplex.Inaudible)
	case "response.done":
		return c.done(m.Whole)
	case "error":
		return c.wrong(m.Error.remoteError, m.Error.Event)
	default:
		if strings.HasPrefix(m.Type, "response.") {
			return c.made(&m)
		}
	}
	return nil
}

// made takes a piece of a reply.
func (c *conversation) made(m *realtimeEvent) error {
	if m.Type == "response.created" {
		c.begun(m.Whole.ID)
		return nil
	}
	p := c.replies[m.Response]
	if p == nil || p != c.current || p.cut {
		return nil
	}
	c.came = time.Now()
	e := inference.RealtimeEvent{Item: p.response}
	switch m.Type {
	case "response.output_item.added":
		c.names[m.Output.Call] = m.Output.Name
		return nil
	case "response.output_audio.delta":
		pcm, err := base64.StdEncoding.DecodeString(m.Delta)
		if err != nil {
			return c.Fault(inference.ErrFailed, errors.New("audio that is not base64"))
		}
		e.Kind, e.Chunk = inference.RealtimeAudio, inference.Chunk{Rate: media.Rate24k, Samples: media.AppendSamples(nil, pcm)}
		p.part(m.Item).samples += len(e.Chunk.Samples)
	case "response.output_audio_transcript.delta":
		e.Kind, e.Text = inference.RealtimeText, m.Delta
	case "response.function_call_arguments.done":
		if m.Name == "" {
			m.Name = c.names[m.Call]
		}
		p.calls = true
		e.Kind, e.ToolCall = inference.RealtimeTool, &inference.ToolCall{ID: m.Call, Name: m.Name, Arguments: m.Arguments}
	default:
		return nil
	}
	c.Report(e)
	return nil
}

// part is the message of a reply that OpenAI calls item.
func (p *realtimeReply) part(item string) *realtimePart {
	for _, m := range p.parts {
		if m.item == item {
			return m
		}
	}
	p.parts = append(p.parts, &realtimePart{item: item})
	return p.parts[len(p.parts)-1]
}

// begun takes the beginning of a reply: the one that was asked for, or one of OpenAI's own.
func (c *conversation) begun(response string) {
	if c.current == nil || c.current.response != "" {
		c.current = &realtimeReply{}
	}
	c.current.response, c.came = response, time.Now()
	c.replies[response] = c.current
	c.Report(inference.RealtimeEvent{Kind: inference.RealtimeReply, Item: response})
}

// realtimeDone is the end of a reply.
type realtimeDone struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Detail struct {
		Reason string      `json:"reason"`
		Error  remoteError `json:"error"`
	} `json:"status_details"`
	Usage struct {
		In       int `json:"input_tokens"`
		Out      int `json:"output_tokens"`
		InDetail struct {
			Text   int `json:"text_tokens"`
			Audio  int `json:"audio_tokens"`
			Cached struct {
				Text  int `json:"text_tokens"`
				Audio int `json:"audio_tokens"`
			} `json:"cached_tokens_details"`
		} `json:"input_token_details"`
		OutDetail struct {
			Audio int `json:"audio_tokens"`
		} `json:"output_token_details"`
	} `json:"usage"`
}

// done takes the end of a reply.
func (c *conversation) done(r realtimeDone) error {
	p := c.replies[r.ID]
	if p == nil || p != c.current {
		return nil
	}
	c.current = nil
	e := inference.RealtimeEvent{Kind: inference.RealtimeDone, Item: r.ID, Finish: inference.FinishStop, Usage: r.usage()}
	switch {
	case r.Status == "failed" && r.Detail.Error.Code == "rate_limit_exceeded":
		return c.Fault(inference.ErrUnavailable, errors.New("rate_limit_exceeded"))
	case r.Status == "failed":
		if err := c.refused(r.Detail.Error); err != nil {
			return err
		}
		return c.Fault(inference.ErrFailed, errors.New("a reply failed "+c.named(r.Detail.Error)))
	case p.calls && !p.cut:
		e.Finish = inference.FinishTools
	case r.Detail.Reason == "max_output_tokens":
		e.Finish = inference.FinishLength
	case r.Detail.Reason == "content_filter":
		e.Finish = inference.FinishFiltered
	}
	c.Report(e)
	c.next()
	return nil
}

// usage is what a reply has consumed. OpenAI counts audio among all tokens.
func (r *realtimeDone) usage() *inference.Usage {
	u := r.Usage
	in, out := max(0, u.InDetail.Audio), max(0, u.OutDetail.Audio)
	return &inference.Usage{In: max(0, u.In-in), Cached: max(0, u.InDetail.Cached.Text), Out: max(0, u.Out-out), AudioIn: in, AudioOut: out,
		AudioCached: min(in, max(0, u.InDetail.Cached.Audio)), Source: inference.UsageProvider}
}

// wrong is an error event. What was to be truncated, cancelled or committed was not: that ends nothing.
func (c *conversation) wrong(e remoteError, event string) error {
	if err := c.refused(e); err != nil {
		return err
	}
	switch {
	case event == firstEvent:
		return c.Fault(inference.ErrRefused, errors.New("the session "+c.named(e)))
	case event != replyEvent || c.current == nil || c.current.response != "":
	case e.Code == "conversation_already_has_active_response": // its end is waited for
		c.waiting, c.current = append([]string{c.current.instructions}, c.waiting...), nil
	default:
		return c.Fault(inference.ErrFailed, errors.New("a reply was refused "+c.named(e)))
	}
	return nil
}

// named is what may be shown of an error.
func (c *conversation) named(e remoteError) string {
	return c.Name(remote.Named{Code: e.Code, Type: e.Type})
}

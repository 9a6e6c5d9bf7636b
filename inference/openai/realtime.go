package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"time"

	"parley/inference"
	"parley/inference/duplex"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
	"parley/media/resample"
)

// RealtimeOptions are the settings that an operator may give a model that hears and speaks.
type RealtimeOptions struct {
	KeyHeader     string          // empty: Authorization, as a bearer token
	Transcription string          // empty: gpt-4o-mini-transcribe
	Noise         string          // empty: it is not reduced
	Turns         json.RawMessage // null: the call finds the ends of turns; nil: server_vad does
}

// All describes them.
func (o *RealtimeOptions) All() remote.Options {
	return remote.Options{
		remote.Text("key_header", &o.KeyHeader, "The header that carries the key, api-key at Azure; without it Authorization does, as a bearer token."),
		remote.Text("transcription", &o.Transcription, "The model that writes down what the caller says; gpt-4o-mini-transcribe."),
		remote.Text("noise_reduction", &o.Noise, "How OpenAI reduces noise; without it not at all.", "near_field", "far_field"),
		remote.Any("turn_detection", &o.Turns, "How OpenAI finds the ends of turns, an object of type server_vad or semantic_vad with its settings; null: by the call's own rules. server_vad."),
	}
}

// realtimeVoices are OpenAI's, as near to ours in character as they come.
var realtimeVoices = synthesiser.Voices{
	"F1": "marin", "F2": "coral", "F3": "shimmer", "F4": "sage", "F5": "alloy",
	"M1": "cedar", "M2": "ash", "M3": "echo", "M4": "verse", "M5": "ballad",
}

// realtimeLasts leaves a session of 60 minutes ten to find a moment between turns.
const realtimeLasts = 50 * time.Minute

// NewRealtime is a model that hears and speaks by itself, over OpenAI's Realtime API; Azure's is the same under another
// address, with the key in another header. It checks c and contacts nobody.
func NewRealtime(c remote.Engine) (*duplex.Engine, error) {
	v := &realtime{voices: maps.Clone(realtimeVoices)}
	maps.Copy(v.voices, c.Voices)
	name := cmp.Or(c.Name, "openai")
	if err := v.options.All().Read(name, c.Options); err != nil {
		return nil, err
	}
	if err := cmp.Or(v.voices.Check(), v.readTurns()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	headers := map[string]string{}
	switch header := v.options.KeyHeader; {
	case c.APIKey == "":
	case header == "":
		headers["Authorization"] = "Bearer " + c.APIKey
	default:
		headers[header] = c.APIKey
	}
	var err error
	if v.client, err = newClientWith(headers, "gpt-realtime-2.1", c); err != nil {
		return nil, err
	}
	return duplex.New(v.Client, v), nil
}

// realtime is the vendor.
type realtime struct {
	*client
	options RealtimeOptions
	voices  synthesiser.Voices
	turns   object // nil: the call finds the ends of turns
}

// object is a JSON object of the wire.
type object map[string]any

// readTurns reads how turns end. Replies are asked for by us, one after the other, and barge-in is the call's: it knows the
// echo.
func (v *realtime) readTurns() error {
	v.turns = object{"type": "server_vad"}
	if given := v.options.Turns; given != nil {
		v.turns = nil
		if json.Unmarshal(given, &v.turns) != nil || v.turns != nil && v.turns["type"] != "server_vad" && v.turns["type"] != "semantic_vad" {
			return errors.New("options: turn_detection: allowed: null, or the settings of type server_vad or semantic_vad")
		}
	}
	if v.turns != nil {
		v.turns["create_response"], v.turns["interrupt_response"] = false, false
	}
	return nil
}

// Info implements duplex.Vendor.
func (v *realtime) Info() inference.Info {
	return inference.Info{Name: v.Engine(), Description: "speech to speech, model " + v.model, Languages: inference.Spoken(), Latency: 1700 * time.Millisecond,
		Caps: inference.Caps{Turns: v.turns != nil, Truncate: true}}
}

// Voices implements duplex.Vendor.
func (v *realtime) Voices() synthesiser.Voices { return v.voices }

// Path implements duplex.Vendor.
func (v *realtime) Path() string { return "/realtime?model=" + url.QueryEscape(v.model) }

// Lasts implements duplex.Vendor.
func (v *realtime) Lasts() time.Duration { return realtimeLasts }

// Connect implements duplex.Vendor.
func (v *realtime) Connect(line duplex.Line) duplex.Connection {
	return &conversation{realtime: v, Order: duplex.Order{Line: line}, up: resample.NewStream(media.Rate16k, media.Rate24k),
		replies: map[string]*realtimeReply{}, names: map[string]string{}}
}

// Events of ours that OpenAI names when it refuses them.
const (
	firstEvent = "first"
	replyEvent = "reply"
)

// Handle implements duplex.Connection: OpenAI has none.
func (*conversation) Handle() string { return "" }

// Begin implements duplex.Connection.
func (c *conversation) Begin(config inference.RealtimeConfig, _ string) {
	c.config = config
	pcm := object{"type": "audio/pcm", "rate": int(media.Rate24k)}
	transcription := object{"model": cmp.Or(c.options.Transcription, "gpt-4o-mini-transcribe")}
	if c.config.Language != "" {
		transcription["language"] = c.config.Language
	}
	var noise any
	if c.options.Noise != "" {
		noise = object{"type": c.options.Noise}
	}
	session := c.instructed()
	session["output_modalities"] = []string{"audio"}
	session["audio"] = object{
		"input":  object{"format": pcm, "transcription": transcription, "turn_detection": c.turns, "noise_reduction": noise},
		"output": object{"format": pcm, "voice": c.voices.Of(c.config.Voice)},
	}
	c.Send(object{"type": "session.update", "event_id": firstEvent, "session": session})
	for _, m := range remote.Matched(c.config.History) {
		c.remember(m)
	}
}

// instructed is the part of a session that may change.
func (c *conversation) instructed() object {
	tools := []object{}
	for _, t := range c.config.Tools {
		tools = append(tools, object{"type": "function", "name": t.Name, "description": t.Description, "parameters": json.RawMessage(duplex.Parameters(t))})
	}
	return object{"type": "realtime", "instructions": duplex.Prompt(c.config), "tools": tools, "tool_choice": "auto"}
}

// remember puts a message of the history into the conversation.
func (c *conversation) remember(m inference.Message) {
	role, part := "user", "input_text"
	switch m.Role {
	case inference.RoleTool:
		c.ToolResult(m.ToolCallID, m.Text)
		return
	case inference.RoleAgent:
		role, part = "assistant", "output_text"
	}
	if m.Text != "" {
		c.item(object{"type": "message", "role": role, "content": []object{{"type": part, "text": m.Text}}})
	}
	for _, t := range m.ToolCalls {
		c.item(object{"type": "function_call", "call_id": t.ID, "name": t.Name, "arguments": t.Arguments})
	}
}

func (c *conversation) item(item object) {
	c.Send(object{"type": "conversation.item.create", "item": item})
}

// Ready implements duplex.Connection.
func (*conversation) Ready() bool { return true }

// Audio implements duplex.Connection.
func (c *conversation) Audio(samples []int16) {
	if pcm := media.AppendPCM(nil, c.up.Convert(nil, samples)); len(pcm) > 0 {
		c.Send(object{"type": "input_audio_buffer.append", "audio": base64.StdEncoding.EncodeToString(pcm)})
	}
}

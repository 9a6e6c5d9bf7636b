package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/api"
	"parley/api/tts"
	"parley/billing"
	"parley/media"
	"parley/media/isolate"
	"parley/media/wav"
)

// add adds the tools that need no route of their own.
func (t *Tools) add(c *catalogue) {
	s := t.Server
	addList(c, "list_voices", "List voices", "/voices", "List the voices: identifier, gender and character.", s.Voices)
	addList(c, "list_languages", "List languages", "/languages", "List the languages that can be spoken, and which of them can also be recognised.", s.Languages)
	addList(c, "list_models", "List engines", "/models", "List the engines of this server.", s.Models)
	addList(c, "get_limits", "Get limits", "/config", "Get the limits of synthesis requests and the format of the audio.", s.Limits)

	c.add(&mcp.Tool{
		Name: "synthesize_speech", Title: "Synthesise speech",
		Description: "Speak a text. The result is a WAV file (44.1 kHz, 16 bits, mono). The account pays for the characters of the text.",
		InputSchema: synthesisSchema(),
		Annotations: adds.annotations(),
	}, "POST /tts/synthesize", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		v, _ := ctx.Value(callKey{}).(*toolCall)
		wav, err := t.synthesize(v, req.Params.Arguments)
		if err != nil {
			return failure(v.ctx, err), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.AudioContent{Data: wav, MIMEType: "audio/wav"}}}, nil
	})
}

// addList adds a tool without arguments that answers with what list returns, as the route at
// path does.
func addList[T any](c *catalogue, name, title, path, description string, list func() T) {
	c.add(&mcp.Tool{
		Name: name, Title: title, Description: description, InputSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		Annotations: reads.annotations(),
	}, "GET "+path, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, err := encode(list())
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: text}, nil
	})
}

// synthesisSchema is what synthesize_speech takes. The bounds are those of the
// check that every request goes through.
func synthesisSchema() map[string]any {
	var voices, languages []string
	for _, v := range tts.Voices() {
		voices = append(voices, v.ID)
	}
	for _, l := range tts.Languages() {
		languages = append(languages, l.Code)
	}
	return map[string]any{
		"type":     "object",
		"required": []string{"text", "voice", "language"},
		"properties": map[string]any{
			"text":     map[string]any{"type": "string", "minLength": 1, "maxLength": tts.MaxText, "description": "What to say."},
			"voice":    map[string]any{"type": "string", "enum": voices, "description": "Which voice says it: F are female, M male."},
			"language": map[string]any{"type": "string", "enum": languages, "description": "The language of the text, by its ISO 639-1 code."},
			"speed": map[string]any{"type": "number", "minimum": tts.MinSpeed, "maximum": tts.MaxSpeed, "default": tts.DefaultSpeed,
				"description": "The pace; 1 is the voice's own."},
			"steps": map[string]any{"type": "integer", "minimum": 1, "maximum": tts.MaxSteps, "default": tts.StreamSteps,
				"description": "Quality steps, for engines that have them."},
		},
	}
}

// failure is a tool's refusal, in the words of the error table. What there is more to say is a text of its own.
func failure(ctx context.Context, err error) *mcp.CallToolResult {
	p := api.ProblemOf(err)
	p.Request = api.RequestIDOf(ctx)
	whole, _ := encode(p) // plain fields
	r := &mcp.CallToolResult{IsError: true, StructuredContent: whole, Content: []mcp.Content{&mcp.TextContent{Text: p.Code + ": " + p.Message}}}
	if p.Detail != "" {
		r.Content = append(r.Content, &mcp.TextContent{Text: p.Detail})
	}
	return r
}

// encode is v as the routes write it.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// synthesize speaks what the arguments of a call say, for the account that asks,
// and returns a WAV file. It is charged when all of it could be spoken, and
// free when there is nothing in it to speak.
func (t *Tools) synthesize(v *toolCall, arguments []byte) ([]byte, error) {
	if err := api.PrincipalOf(v.ctx).Opens(api.Synthesis); err != nil {
		return nil, err
	}
	ask, err := tts.ParseAsk(arguments)
	if err != nil {
		return nil, err
	}
	r, err := t.Voice.Check(ask, tts.OneShot)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	p := api.PrincipalOf(ctx)
	n := int64(utf8.RuneCountInString(r.Text))
	gate := t.long
	if n <= shortText {
		gate = t.short
	}
	if v.leave, err = gate.Enter(ctx, p.Account); err != nil {
		return nil, err
	}
	work, err := t.Books.Begin(ctx, p, api.Job{Kind: billing.TTS, Expected: n})
	if err != nil {
		return nil, err
	}
	defer work.End(isolate.Internal) // where nothing else has: a panic
	file, spoken, err := t.record(work.Context(), r)
	if err == nil && spoken {
		work.Used(n)
	}
	work.End(err) // before the answer, so that the client's next request finds the place free
	if err != nil && !errors.Is(err, context.Canceled) && api.ProblemOf(err).Status >= 500 {
		api.LogOf(ctx, t.Log).Warn("synthesis failed", "account", p.Account, "err", err)
	}
	return file, err
}

// record speaks a request into a WAV file. spoken is false when nothing in the text
// can be spoken.
func (t *Tools) record(ctx context.Context, r tts.Request) (wave []byte, spoken bool, err error) {
	var file bytes.Buffer
	if err := wav.WriteHeader(&file, tts.Rate, 0); err != nil {
		return nil, false, err
	}
	head := file.Len()
	for chunk, err := range t.Voice.Speak(ctx, r) {
		if err != nil {
			return nil, false, api.Stopped(err)
		}
		file.Write(media.AppendPCM(file.AvailableBuffer(), chunk.Samples))
	}
	// Only now is the length known that the header must say.
	var header bytes.Buffer
	if err := wav.WriteHeader(&header, tts.Rate, int64(file.Len()-head)/2); err != nil {
		return nil, false, err
	}
	copy(file.Bytes(), header.Bytes())
	return file.Bytes(), file.Len() > head, nil
}

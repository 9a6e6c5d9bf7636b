package mcp

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/api"
	"parley/api/tts"
)

// add adds the tools to a server.
func (t *Tools) add(server *mcp.Server) {
	s := t.Server
	addList(server, "list_voices", "List the voices: identifier, gender and character.", s.Voices)
	addList(server, "list_languages", "List the languages that can be spoken, and which of them can also be recognised.", s.Languages)
	addList(server, "list_models", "List the engines of this server.", s.Models)
	addList(server, "get_limits", "Get the limits of synthesis requests and the format of the audio.", s.Limits)

	no := false
	server.AddTool(&mcp.Tool{
		Name: "synthesize_speech", Title: "Synthesise speech",
		Description: "Speak a text. The result is a WAV file (44.1 kHz, 16 bits, mono). The account pays for the characters of the text.",
		InputSchema: synthesisSchema(),
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		v, _ := ctx.Value(callKey{}).(*toolCall)
		wav, err := t.synthesize(v, req.Params.Arguments)
		if err != nil {
			return failure(err), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.AudioContent{Data: wav, MIMEType: "audio/wav"}}}, nil
	})
}

// addList adds a tool without arguments that answers with what list returns.
func addList[T any](server *mcp.Server, name, description string, list func() T) {
	no := false
	server.AddTool(&mcp.Tool{
		Name: name, Description: description, InputSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
	}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
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

// failure is a tool's refusal, in the words of the error table.
func failure(err error) *mcp.CallToolResult {
	p := api.ProblemOf(err)
	whole, _ := encode(p) // four plain fields
	return &mcp.CallToolResult{IsError: true, StructuredContent: whole,
		Content: []mcp.Content{&mcp.TextContent{Text: p.Code + ": " + p.Message}}}
}

// encode is v as the routes write it.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

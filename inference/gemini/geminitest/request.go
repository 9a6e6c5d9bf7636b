package geminitest

import (
	"encoding/json"
	"errors"
	"strings"

	"parley/inference/enginetest/loopbacktest"
)

// Request is a request that was accepted.
type Request struct {
	System        Content     `json:"systemInstruction"`
	Contents      []Content   `json:"contents"`
	Tools         []Tool      `json:"tools"`
	ToolConfig    *ToolConfig `json:"toolConfig"`
	Generation    Generation  `json:"generationConfig"`
	Safety        []Safety    `json:"safetySettings"`
	CachedContent string      `json:"cachedContent"`

	Model string `json:"-"`
	Bytes int    `json:"-"` // of the body
}

// Content is one turn, or a step of it.
type Content struct {
	Role  string `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is one of text, a call and the result of one.
type Part struct {
	Text      *string   `json:"text"`
	Thought   bool      `json:"thought"`
	Signature string    `json:"thoughtSignature"`
	Call      *Call     `json:"functionCall"`
	Response  *Response `json:"functionResponse"`
}

// Call is what the model wants called.
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// Response is the result of a call.
type Response struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

// Tool is a list of functions that the model may call.
type Tool struct {
	Functions []Function `json:"functionDeclarations"`
}

// Function is one of them. Its parameters are in Google's part of OpenAPI, or in JSON Schema.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Schema      json.RawMessage `json:"parametersJsonSchema"`
}

// ToolConfig is what the model may or must call.
type ToolConfig struct {
	Calling struct {
		Mode    string   `json:"mode"`
		Allowed []string `json:"allowedFunctionNames"`
	} `json:"functionCallingConfig"`
}

// Generation is how the model answers.
type Generation struct {
	MaxTokens   *int            `json:"maxOutputTokens"`
	Temperature *float64        `json:"temperature"`
	TopP        *float64        `json:"topP"`
	TopK        *int            `json:"topK"`
	Seed        *int            `json:"seed"`
	Sequences   []string        `json:"stopSequences"`
	MIMEType    string          `json:"responseMimeType"`
	Schema      json.RawMessage `json:"responseSchema"`
	JSONSchema  json.RawMessage `json:"responseJsonSchema"`
	Thinking    *Thinking       `json:"thinkingConfig"`
}

// Thinking is how much the model thinks, and whether its thoughts are sent.
type Thinking struct {
	Level    string `json:"thinkingLevel"`
	Budget   *int   `json:"thinkingBudget"`
	Included bool   `json:"includeThoughts"`
}

// Safety is what of a category is blocked.
type Safety struct {
	Category  string `json:"category"`
	Threshold string `json:"threshold"`
}

// decode reads a request and refuses fields that are not known.
func decode(body []byte) (r Request, err error) {
	r.Bytes = len(body)
	if !json.Valid(body) {
		return r, invalid("Invalid JSON payload received. Unexpected token.")
	}
	err = loopbacktest.Strict(body, &r)
	var field loopbacktest.UnknownField
	switch {
	case errors.As(err, &field):
		return r, unknown(string(field))
	case err != nil:
		return r, invalid("Invalid value: %v", err)
	}
	return r, nil
}

func unknown(field string) error {
	return invalid("Invalid JSON payload received. Unknown name %q: Cannot find field.", field)
}

// signs says whether the model signs its calls, and wants the signatures back: from Gemini 3 on.
func (r *Request) signs() bool {
	return !strings.HasPrefix(r.Model, "gemini-1") && !strings.HasPrefix(r.Model, "gemini-2")
}

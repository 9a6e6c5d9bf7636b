package talk

import (
	"encoding/json"
	"strings"

	"parley/api"
	"parley/inference"
)

// Voices and languages as clients may write them.
var (
	voices    = []string{"F1", "F2", "F3", "F4", "F5", "M1", "M2", "M3", "M4", "M5"}
	languages = []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"}
)

// Voice is the canonical form of a voice's name, "" when there is none such. The
// longer names of newer clients, such as en_f1, mean the same ten.
func Voice(name string) string {
	name = strings.ToUpper(name)
	for _, prefix := range []string{"EN_", "ESCA_"} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, v := range voices {
		if v == name {
			return v
		}
	}
	return ""
}

// Language is the two-letter code of a language tag such as en-US, "" when it is
// none of the nine.
func Language(tag string) string {
	code, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	for _, l := range languages {
		if l == code {
			return l
		}
	}
	return ""
}

// toolFrame is a function in OpenAI's form.
type toolFrame struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// maxTools bounds the functions of one conversation.
const maxTools = 64

// ParseTools reads functions in OpenAI's form; entries without a name are skipped.
func ParseTools(data json.RawMessage) ([]inference.Tool, error) {
	var frames []toolFrame
	if err := json.Unmarshal(data, &frames); err != nil || len(frames) > maxTools {
		return nil, api.ErrBadRequest
	}
	var tools []inference.Tool
	for _, f := range frames {
		if f.Function.Name != "" {
			tools = append(tools, inference.Tool{Name: f.Function.Name, Description: f.Function.Description, Parameters: f.Function.Parameters})
		}
	}
	return tools, nil
}

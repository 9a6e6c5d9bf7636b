package manage

import (
	"github.com/danielgtaylor/huma/v2"

	"parley/inference/spoken"
)

// pronunciationList is the schema of settings.pronunciation.
func pronunciationList() *huma.Schema {
	most, longest, least := spoken.MaxEntries, spoken.MaxBytes, 1
	return &huma.Schema{Type: huma.TypeArray, MaxItems: &most,
		Description: "How words are pronounced: whole words, in any case, the longest that fits. Transcripts and captions keep what is written.",
		Items: &huma.Schema{Type: huma.TypeObject, Required: []string{"word", "say"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{
			"word": {Type: huma.TypeString, MinLength: &least, MaxLength: &longest, Description: "A word, or several, as it is written; 200 bytes at most."},
			"say":  {Type: huma.TypeString, MinLength: &least, MaxLength: &longest, Description: "As it would be written if it were written as it sounds; 200 bytes at most."},
		}}}
}

package store

import "encoding/json"

// Pairs are names and values as a parameter of a statement that keeps them as jsonb; null when there are none.
func Pairs(m map[string]string) *string {
	if len(m) == 0 {
		return nil
	}
	b, _ := json.Marshal(m) // strings can be written
	text := string(b)
	return &text
}

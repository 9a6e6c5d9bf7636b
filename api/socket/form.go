package socket

import "parley/api"

// Form makes the frame that tells a kind of client of an error.
type Form func(api.Problem) any

// Object is the form of clients that read an object: its data has the code, the
// sentence and what exactly was wrong. The sentence stands beside it once more,
// where some clients look for it.
func Object(p api.Problem) any {
	type data struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		Detail    string `json:"detail"`
		Retryable bool   `json:"retryable"`
	}
	return struct {
		Type    string `json:"type"`
		Data    data   `json:"data"`
		Message string `json:"message"`
	}{"error", data{p.Code, p.Message, p.Detail, p.Retryable}, p.Message}
}

// Sentence is the form of clients that show the data as it is.
func Sentence(p api.Problem) any {
	return struct {
		Type      string `json:"type"`
		Data      string `json:"data"`
		Code      string `json:"code"`
		Detail    string `json:"detail"`
		Retryable bool   `json:"retryable"`
	}{"error", p.Message, p.Code, p.Detail, p.Retryable}
}

package livetest

import (
	"encoding/json"
	"strings"

	"parley/inference/gemini/geminitest"
)

// message is any message of the client: one of its parts.
type message struct {
	Setup   *setup         `json:"setup"`
	Content *clientContent `json:"clientContent"`
	Input   *realtimeInput `json:"realtimeInput"`
	Results *toolResponse  `json:"toolResponse"`
}

// clientContent is history, or what is answered.
type clientContent struct {
	Turns    []content `json:"turns"`
	Complete bool      `json:"turnComplete"`
}

// content is one turn of anybody.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is a part of a content. The fake has texts, and takes calls and results that are history.
type part struct {
	Text   *string          `json:"text"`
	Call   *geminitest.Call `json:"functionCall"`
	Result *result          `json:"functionResponse"`
}

// result is that of a function.
type result struct {
	geminitest.Response
	Scheduling string `json:"scheduling"`
}

// toolResponse answers calls.
type toolResponse struct {
	Results []result `json:"functionResponses"`
}

// realtimeInput is what the caller says, and when.
type realtimeInput struct {
	Audio *struct {
		Type string `json:"mimeType"`
		Data string `json:"data"`
	} `json:"audio"`
	Ended bool      `json:"audioStreamEnd"`
	Start *struct{} `json:"activityStart"`
	End   *struct{} `json:"activityEnd"`
	Text  string    `json:"text"`
}

// one says whether exactly one of these is true.
func one(these ...bool) bool {
	n := 0
	for _, is := range these {
		if is {
			n++
		}
	}
	return n == 1
}

// text is all that a content says.
func (c *content) text() string {
	var texts []string
	for _, p := range c.Parts {
		switch {
		case p.Text != nil:
			texts = append(texts, *p.Text)
		case p.Call != nil:
			texts = append(texts, p.Call.Name+string(p.Call.Args))
		case p.Result != nil:
			texts = append(texts, string(p.Result.Response.Response))
		}
	}
	return strings.Join(texts, "\n")
}

// check refuses a content of the history.
func (c *content) check() error {
	if err := enum("role", c.Role); err != nil {
		return err
	}
	if len(c.Parts) == 0 {
		return invalid("Request contains an invalid argument: a content has no parts.")
	}
	for _, p := range c.Parts {
		if !one(p.Text != nil, p.Call != nil, p.Result != nil) {
			return invalid("Request contains an invalid argument: a part has not exactly one kind of data.")
		}
	}
	return nil
}

// check refuses a result.
func (r *result) check() error {
	var object map[string]any
	switch {
	case r.ID == "":
		return invalid("Request contains an invalid argument: a function response has no id.")
	case json.Unmarshal(r.Response.Response, &object) != nil || object == nil:
		return invalid("Invalid value at 'tool_response.function_responses.response': no object.")
	}
	return enum("scheduling", r.Scheduling)
}

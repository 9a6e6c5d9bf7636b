package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"parley/api"
	"parley/api/wire"
)

const (
	// maxAnswer bounds the text of an answer, in bytes: much more fills what a model can read at once.
	maxAnswer = 256 << 10
	// maxLines bounds the lines of a transcript in one answer, in bytes; each has lineSize besides its text.
	maxLines = 64 << 10
	lineSize = 64
)

// bounded is the beginning of an answer and, where something is missing, what to say of that.
func bounded(text json.RawMessage) (head, note string) {
	if len(text) <= maxAnswer {
		return string(text), ""
	}
	return strings.ToValidUTF8(string(text[:maxAnswer]), ""),
		fmt.Sprintf("This is cut: the first %d of %d bytes. Ask for less at once, with limit or for one thing alone.", maxAnswer, len(text))
}

// without leaves members out of an answer, or of each entry of a list.
func without(names ...string) func(json.RawMessage, string) (any, error) {
	cut := func(text json.RawMessage) (map[string]json.RawMessage, error) {
		var object map[string]json.RawMessage
		err := json.Unmarshal(text, &object)
		for _, name := range names {
			delete(object, name)
		}
		return object, err
	}
	return func(answer json.RawMessage, _ string) (any, error) {
		object, err := cut(answer)
		if err != nil || object["data"] == nil {
			return object, err
		}
		var list []json.RawMessage
		if err := json.Unmarshal(object["data"], &list); err != nil {
			return nil, err
		}
		short := make([]map[string]json.RawMessage, len(list))
		for i := range list {
			if short[i], err = cut(list[i]); err != nil {
				return nil, err
			}
		}
		object["data"], err = encode(short)
		return object, err
	}
}

// spoken is what was said in a call, or a part of it.
type spoken struct {
	CallID  string          `json:"call_id"`
	Status  string          `json:"status"`
	Lines   []wire.CallLine `json:"transcript"`
	Omitted int             `json:"transcript_omitted,omitempty"`
	api.More
}

// transcript is what was said in a call, line by line, from the cursor on: without the times of single words, which
// are longer than the rest.
func transcript(answer json.RawMessage, cursor string) (any, error) {
	from, err := api.Paging{Cursor: cursor}.Sequence()
	if err != nil {
		return nil, err
	}
	var c wire.CallDetail
	if err := json.Unmarshal(answer, &c); err != nil {
		return nil, err
	}
	out := spoken{CallID: c.ID, Status: c.Status, Lines: []wire.CallLine{}, Omitted: c.Omitted}
	size := 0
	for i := int(min(from, int64(len(c.Transcript)))); i < len(c.Transcript); i++ {
		line := c.Transcript[i]
		size += len(line.Text) + lineSize
		if size > maxLines && len(out.Lines) > 0 {
			out.More = api.More{HasMore: true, NextCursor: new(api.Seq(int64(i)))}
			break
		}
		line.Words, line.Estimated = nil, false
		out.Lines = append(out.Lines, line)
	}
	return out, nil
}

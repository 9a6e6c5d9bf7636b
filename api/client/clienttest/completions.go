package clienttest

import (
	"net/http"
	"strconv"

	"parley/api/wire"
)

// asksModel are the questions to the language model of the call Analyzed, whose last failed.
func asksModel() []wire.CallCompletionDetail {
	return []wire.CallCompletionDetail{
		{CallCompletion: wire.CallCompletion{No: 0, At: 2.3, Messages: 2, Outcome: "done", Engine: new("haiku"), FirstMS: new(int64(310)), TookMS: new(int64(640)), Finish: new("tools"),
			Functions: []wire.CompletionFunction{{ID: "call_0_1", Name: "order", Arguments: `{"id":7}`}}},
			System: "You answer the telephone\nof a restaurant.", Tools: []wire.CompletionTool{{Name: "order", Description: "Looks up an order."}},
			Messages: []wire.CompletionMessage{{Role: "agent", Text: "Hello."}, {Role: "user", Text: "Friday, please."}}},
		{CallCompletion: wire.CallCompletion{No: 1, At: 3.1, Messages: 4, Outcome: "failed", Failure: new("refused"), Functions: []wire.CompletionFunction{}},
			Tools: []wire.CompletionTool{}, Messages: []wire.CompletionMessage{}},
	}
}

func completions(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != Analyzed {
		answer(w, http.StatusNotFound, unknown)
		return
	}
	var all wire.CallCompletions
	for _, c := range asksModel() {
		if no := r.PathValue("no"); no == strconv.Itoa(c.No) {
			answer(w, http.StatusOK, c)
			return
		}
		all.Data = append(all.Data, c.CallCompletion)
	}
	if r.PathValue("no") != "" {
		answer(w, http.StatusNotFound, unknown)
		return
	}
	answer(w, http.StatusOK, all)
}

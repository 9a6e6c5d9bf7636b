package wire

import "encoding/json"

// CallCompletion is a question to the language model of a call, with its answer.
type CallCompletion struct {
	No        int                  `json:"no" doc:"Names it in its call: 0, 1, 2…" example:"3"`
	At        float64              `json:"at" doc:"Seconds from the answer of the call to the question." example:"9.12"`
	Messages  int                  `json:"message_count" doc:"How many entries of the conversation the model was given." example:"7"`
	Outcome   string               `json:"outcome" doc:"pending: it is being answered, or the server was lost before. cut: nobody wanted the rest, as when the caller went on." enum:"pending,done,cut,failed" example:"done"`
	Engine    *string              `json:"engine" doc:"The engine that answered, as settings of agents name it; null: not known." example:"haiku"`
	FirstMS   *int64               `json:"first_ms" doc:"Milliseconds until its first words or function; null: there were none." example:"310"`
	TookMS    *int64               `json:"took_ms" doc:"Milliseconds until the answer was over; null: it is not." example:"1240"`
	Finish    *string              `json:"finish" doc:"Why the model stopped: it had said all, reached its limit, waits for functions, or its vendor held the rest back; null: it does not say." enum:"stop,length,tools,filter" example:"stop"`
	Failure   *string              `json:"failure" doc:"Why it failed; null: it did not." example:"refused"`
	Answer    string               `json:"answer" doc:"What the model wrote, 32 kB at most. Not all of it was heard." example:"We are open until eight."`
	Functions []CompletionFunction `json:"functions" doc:"The functions that it wanted to call." nullable:"false"`
}

// CallCompletions are all of a call, which are bounded.
type CallCompletions struct {
	Data []CallCompletion `json:"data" doc:"The questions, the first one first." nullable:"false"`
}

// CompletionFunction is a function that a model wanted to call.
type CompletionFunction struct {
	ID        string `json:"id" doc:"As the model names the call." example:"call_3_1"`
	Name      string `json:"name" doc:"The function." example:"book_table"`
	Arguments string `json:"arguments" doc:"As the model wrote them." example:"{\"people\":4}"`
}

// CallCompletionDetail is one with all that the model was given.
type CallCompletionDetail struct {
	CallCompletion
	System   string              `json:"system" doc:"The prompt, with its variables filled in." example:"You answer the telephone of a restaurant."`
	Tools    []CompletionTool    `json:"tools" doc:"The functions that it might call." nullable:"false"`
	Messages []CompletionMessage `json:"messages" doc:"The conversation as the model was given it." nullable:"false"`
}

// CompletionTool is a function that a model might call.
type CompletionTool struct {
	Name        string          `json:"name" doc:"The function." example:"book_table"`
	Description string          `json:"description" doc:"What the model knows of it." example:"Books a table."`
	Parameters  json.RawMessage `json:"parameters,omitempty" doc:"JSON Schema of its arguments; absent: it has none."`
}

// CompletionMessage is an entry of a conversation as a model is given it.
type CompletionMessage struct {
	Role        string               `json:"role" doc:"Who said it; tool: the result of a function." enum:"user,agent,tool" example:"user"`
	Text        string               `json:"text" doc:"The words, of the agent's those that were heard; or the result." example:"A table for four."`
	Interrupted bool                 `json:"interrupted,omitempty" doc:"The agent was cut off here."`
	Functions   []CompletionFunction `json:"functions,omitempty" doc:"The functions that the agent called here." nullable:"false"`
	FunctionID  *string              `json:"function_id,omitempty" doc:"Of a result: the call that it is of." example:"call_3_1"`
}

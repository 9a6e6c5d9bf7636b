// Package realtimetest is a fake of OpenAI's Realtime API on loopback, /v1/realtime, for tests of its
// adapters and for measurements: Transcription is ?intent=transcription, Conversation is ?model=NAME.
//
// It hears as package hearingtest does, and answers as package replytest does. The times of the protocol
// are time of audio, so a test may send audio as fast as it likes. The clock counts for how long a session
// lasts, for the delays of the script and for the pace of replies.
//
// What OpenAI refuses it refuses, and notes each mistake of its client as a violation. What can happen to
// any client, such as a cancel that comes too late, is an error event and no violation. Where the vendor's
// documents are silent it follows what clients report: the texts and codes of errors, ids of at most 32
// characters, truncation of nothing but audio that was sent, the order of a response's events, rate
// limits after its beginning.
//
// An audio token is 100 ms of the caller or 50 ms of the model, a token of text four characters. A part
// of the input is cached when the response before has read it and all that stands before it.
//
// The fake has no images, hosted prompts, MCP, idle timeouts and responses outside of the conversation.
// Its semantic_vad waits until the caller has said the whole utterance, or as long as it has patience.
package realtimetest

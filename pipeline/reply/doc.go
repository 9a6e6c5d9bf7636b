// Package reply makes what the agent says: from a request to the model, or a line of the agent's own, to sentences with
// their audio.
//
// A Maker runs the model and the voice beside the conductor of a call. What they make reaches the conductor as Parts, in
// order: each sentence, its audio as it comes, function calls, and what the model used. Every Part names its reply. A Maker
// knows neither the call nor whose turn it is; its Crew counts its goroutines and delivers the Parts.
//
// A Reply is what the conductor knows of one of them: its stage, its sentences, how it ended.
//
// History is the conversation as the model sees it, from which requests are made.
//
// One utterance of the voice (inference.Utterance) speaks a reply: a voice that streams may get a sentence while it speaks
// the one before, and so finds one prosody for both. Its audio reaches the conductor sentence by sentence all the same,
// each with the times of its own words. A sentence is complete when the voice says so, when the audio of a later one
// comes, or at the end.
//
// A reply whose voice stays silent for 1.5 s is spoken again, once: cancelling it with inference.ErrStalled makes the
// failover choose another engine, and an engine that stands alone is tried again and then has the time of any reply. What
// has audio is not said again.
//
// Read reply.go for the stages of a reply, and timing.go for where its time went. Then maker.go, write.go (the model's text
// into pieces, cut by segment.go), speak.go (the pieces to the voice) and lines.go (audio made at the start of the call).
// utter.go gives the voice the spoken form of a text and leads its marks back to the text as it is shown.
package reply

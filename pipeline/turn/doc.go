// Package turn decides who may speak when. It is a pure function: [Step] takes a
// [Config], a [State] and an [Event] and returns the next State and the [Action]s to
// carry out. It reads no clock, starts nothing and allocates nothing with a frame, so a
// conversation can be replayed from its events, and a State can be stored and resumed.
//
// All times are media time of the call: the end of the last audio heard. The caller of
// Step delivers a [Frame] event for each 20 ms of caller audio; timers are checked on
// those, and those of fillers and keys on a [Tick], which follows the agent's own frames.
//
// # Phases, events, actions
//
//	phase         event                          actions                              next phase
//	Connecting    Ready                          Say greeting                         Thinking
//	              Ready, OnMachine HangUpOn or LeaveAMessage                           Screening
//	Screening     GreetedBy a person             NoteAnswer, Say greeting             Thinking
//	              GreetedBy a machine            NoteAnswer, LeaveMessage, Say        Thinking, Over
//	Listening     Adopted                        Say reconnected                      Thinking
//	              speech for StartAfter          BeginTurn, OpenUtterance             UserSpeaking
//	              silence for Idle               Say reprompt, in the end goodbye     Thinking, Closing
//	UserSpeaking  silence for StopAfter          CloseUtterance, unless Batch         Pause
//	              endless speech (endpoint.go)   CloseUtterance                       Pause
//	Pause         it begins, its words change    AskScore, with a Scorer              Pause
//	              a candidate for its end, Batch CloseUtterance                       Pause
//	              speech                         ResumeUtterance or OpenUtterance     UserSpeaking
//	              likely the end of the turn     Speculate                            Pause
//	              Scored, EngineEnd (score.go)   as by words, or Commit               Pause, Thinking
//	              end of turn, with words        Commit                               Thinking
//	              end of turn, without           DropTurn, after long speech Say sorry  Listening, Thinking
//	Thinking      FirstAudio                                                          Speaking
//	              speech, more final words       Cancel: the same turn goes on        UserSpeaking
//	              ToolsCalled                                                         ToolWait
//	              no audio for Think             GiveUp, Say trouble                  Thinking
//	Speaking      speech                         BeginTurn, OpenUtterance, Duck       Yielding
//	              Drained                        Listen                               Listening, ToolWait, Closing
//	Yielding      barge-in                       InterruptReply                       UserSpeaking
//	              false interruption             Unduck, DropTurn                     Speaking
//	ToolWait      ToolsDone                      FollowUp                             Thinking
//	              a long wait (wait.go)          SayFiller                            ToolWait
//	              a number is typed (keys.go)    EndCollecting                        ToolWait
//	              speech                         BeginTurn, OpenUtterance             UserSpeaking
//	any but those in which nobody steps in (supervisor.go)
//	              SteppedIn                      InterruptReply or Cancel             Listening, UserSpeaking, Pause
//	any           Typed                          Commit                               Thinking
//	Listening     other keys, then silence       Commit                               Thinking
//	any           Connected                                                           Bridged
//	Bridged       Stop                           End                                  Over
//	any           Stop                           Finish, Say goodbye, or End at once  Closing, Over
//	Closing       Drained, ClosingMax            End                                  Over
//
// # Order of reading
//
// phase.go, event.go, action.go and config.go are the vocabulary; state.go is what is
// remembered; step.go is the machine, and the way of a frame: what the detector hears, and timers. Then by subject:
// transcript.go (what the recogniser hears), screening.go (who answered), caller.go (the caller's turn), endpoint.go
// (endpointing, the end of the turn), complete.go (what the words say of it), score.go (engines that judge it), speculate.go
// (speculative replies), overlap.go (barge-in, false interruptions, backchannels), greeting.go (salutations),
// adopted.go (another process goes on), reply.go, wait.go (fillers), keys.go, supervisor.go, ending.go. lexicon.go, words.go and
// question.go read texts in six languages, others as English.
//
// # Decisions
//
// Duck, then decide. The voice is lowered within the frame that shows speech and decided
// within 700 ms; a false interruption loses no syllable. A slow recogniser's "stop" still
// counts: an overlap that ends without words resumes the voice, but its text is judged
// when it arrives.
//
// Words over the agent count with the voice that said them. Recognisers are sure of words
// in what a room of people says, so confidence is no guard. Of sixteen frames twelve must
// be at the caller's own level, and for a stop word ten, or six at a stretch: more there
// is not in "stop". In half an hour of eight talkers 10 dB behind the caller, eleven were
// the most: there no words but a stop word, heard by mistake, interrupted the agent, and
// six at a stretch happened in one overlap of two hundred. An answer to a question, or to
// the agent's last words, is held to the same.
//
// People pause where they could have ended: half of the pauses within turns are longer than 400 ms. So without an engine
// that judges the pause the shortest wait is 950 ms, with which one turn in twenty is cut, and 450 ms with one; `parley bench
// endpoint` has the curves. Where more often follows the wait is longer. The reply is begun meanwhile.
// The tone of the voice counts where the words leave it open, and makes no wait shorter than the shortest: the turns of that
// measurement have no sound.
//
// A batch recogniser is asked when the shortest wait is over: shorter pauses are breaths, after which the request would be in
// vain. Where a score or a falling tone says that the turn may have ended it is asked after the 450 ms, and its words are there
// in time. Over the agent it is asked at each pause: a barge-in cannot wait.
//
// Two digits, not one, mean that a number is being read out and lengthen the endpoint
// delay: "a table for two" is complete.
//
// Inner pauses count from the commit. A pause after which the caller went on is known to
// be one only then; it makes the next turn's shortest wait longer, not this one's. Whether
// the agent asked for a number, a date or an address is read from the wording of its last
// sentence: which parameter of which function the model has in mind is not known.
//
// Most of what interrupts must be about as loud as the caller: 600 ms interrupt when 73 % of
// them are, and words when enough of sixteen frames were. So talkers in the room do not
// interrupt the agent in five minutes, and a "stop" over them does. Package listen learns how
// loud the caller is.
package turn

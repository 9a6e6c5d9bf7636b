package tidy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// troubles are what users of voice agents suffer from around the engines of vendors, and the tests that show that ours do not.
var troubles = []struct {
	what  string
	tests []string // by package
}{
	{"a reply waits because the socket that was kept for it is too old", []string{"inference/synthesiser.TestIdleSockets",
		"inference/synthesiser.TestOldSockets", "inference/synthesiser.TestClosedSockets", "inference/synthesiser.TestOneFailureDials"}},
	{"each sentence, or each reply, waits for a connection", []string{"inference/synthesiser.TestRepliesShareASocket", "inference/cartesia.TestWarm"}},
	{"quick interruptions leave more contexts than a socket may have", []string{"inference/elevenlabs.TestInterruptions", "inference/synthesiser.TestInterruptions"}},
	{"a socket takes text and says nothing", []string{"inference/synthesiser.TestSilentSockets", "inference/cartesia.TestStalls", "pipeline.TestSilentVoice"}},
	{"the recogniser hangs up in a long turn of the agent's", []string{"inference/recogniser.TestKeptOpen", "inference/deepgram.TestKeepsTheSocket"}},
	{"the caller's words have no final text, or an empty one", []string{"inference/recogniser.TestUnansweredWithPartial",
		"inference/recogniser.TestUnansweredFinish", "inference/deepgram.TestEmptyFinal"}},
	{"the last words are lost when a stream is closed", []string{"inference/recogniser.TestEndIsRead", "pipeline.TestScenarios"}},
	{"words are lost, or heard twice, when a connection breaks", []string{"inference/recogniser.TestReconnects", "inference/deepgram.TestReconnects",
		"inference/recogniser.TestReplayBeginsAfterTheFinal", "inference/recogniser.TestPartialsDoNotGoBack", "inference.TestSpeechChangesHands",
		"inference.TestPieceIsNotHeardTwice"}},
	{"the history has words that the caller has not heard", []string{"pipeline/playout.TestHeardText", "pipeline.TestInterruptionMarks",
		"pipeline.TestInterruptedNumber", "pipeline.TestStreamingWordTimes"}},
	{"the captions of fixed lines drift", []string{"pipeline.TestMarksOfALineSaidTwice"}},
	{"an engine falls silent when more is cut than it has said", []string{"inference/openai.TestRealtimeInterrupted", "inference/openai.TestRealtimeErrors"}},
	{"a session ends, and the next one greets again or is refused for ever", []string{"inference/duplex.TestSaysThatItExpires", "inference/duplex.TestGoesOn",
		"inference/realtime.TestRenewedBetweenTurns", "inference/realtime.TestRenewedAfterABargeIn", "inference/realtime.TestFunctionOutlivesNoSession",
		"inference/realtime.TestRenewalIsTriedAgain", "inference/realtime.TestSessionsInVain", "inference/gemini.TestLiveRenewed"}},
	{"an interrupted function has every later request refused", []string{"inference/remote.TestMended", "inference/anthropic.TestHistories",
		"inference/gemini.TestHistories", "inference/openai.TestChatHistories", "inference/openai.TestResponsesHistories",
		"inference/openai.TestRealtimeHistory", "inference/gemini.TestLiveHistory", "pipeline/reply.TestHistory"}},
	{"what was cancelled or speculative counts as nothing, and what is charged by time as audio", []string{"pipeline.TestSpeculationIsCharged",
		"pipeline.TestCutReplyIsCounted", "pipeline/reply.TestUsageOnce", "inference/openai.TestCancelReachesServer",
		"inference/realtime.TestAllUsageCounts", "inference/recogniser.TestOpenTime"}},
	{"a dead key is tried for ever, and sockets that are left open use up what an account may have", []string{"inference/remote.TestDeadKey",
		"inference/remote.TestRestDoubles", "inference/remote.TestPlaces", "inference/remote.TestCloseDoesNotWait", "inference/deepgram.TestVoicesSayGoodbye",
		"pipeline.TestRecogniserIsGivenUp", "cmd/parley/engine.TestConcurrency"}},
}

// tested lists the tests of a folder.
func tested(t *testing.T, dir string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root(t), dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "func Test"); ok {
				name, _, _ = strings.Cut(name, "(")
				names = append(names, "Test"+name)
			}
		}
	}
	return names
}

func TestTroublesAreTested(t *testing.T) {
	if len(troubles) != 15 {
		t.Errorf("%d troubles", len(troubles))
	}
	for _, trouble := range troubles {
		for _, name := range trouble.tests {
			dir, test, _ := strings.Cut(name, ".")
			if !slices.Contains(tested(t, dir), test) {
				t.Errorf("%s: %s has no %s", trouble.what, dir, test)
			}
		}
	}
}

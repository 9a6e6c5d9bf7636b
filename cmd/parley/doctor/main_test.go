package doctor

import (
	"testing"

	"parley/inference/worker/workertest"
	"parley/store/storetest"
)

// program is the worker program that TestMain builds.
var program string

func TestMain(m *testing.M) { workertest.Main(withDatabase{m}, &program) }

type withDatabase struct{ *testing.M }

func (w withDatabase) Run() int { return storetest.Run(w.M) }

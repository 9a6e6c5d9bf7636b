package doctor

import (
	"testing"

	"parley/inference/worker/workertest"
)

// program is the worker program that TestMain builds.
var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

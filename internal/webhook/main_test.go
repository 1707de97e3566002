package webhook

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if database := os.Getenv(childDatabase); database != "" {
		deliverUntilKilled(database)
	}
	goleak.VerifyTestMain(m)
}

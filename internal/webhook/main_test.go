package webhook

import (
	"os"
	"testing"

	"anodyne.example/anodyne/internal/testwait"
)

func TestMain(m *testing.M) {
	if database := os.Getenv(childDatabase); database != "" {
		deliverUntilKilled(database)
	}
	testwait.Main(m)
}

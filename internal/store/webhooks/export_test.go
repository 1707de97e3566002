package webhooks

var RecoverScan, OldDelivery = recoverScan, oldDeliveryID

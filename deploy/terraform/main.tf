resource "juju_application" "ovn_central" {
  name        = var.app_name
  model_uuid  = var.model_uuid
  units       = var.units
  config      = var.config
  constraints = var.constraints

  charm {
    name     = var.charm
    channel  = var.channel
    revision = var.revision
    base     = var.base
  }

  endpoint_bindings = var.endpoint_bindings
}

resource "juju_application" "ovn_central" {
  name        = var.app_name
  model       = var.model
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

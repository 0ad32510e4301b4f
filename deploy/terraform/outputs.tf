output "app_name" {
  description = "Name of the application, for juju_integration."
  value       = juju_application.ovn_central.name
}

output "requires" {
  description = "Endpoints that the charm requires."
  value = {
    certificates = "certificates"
  }
}

output "provides" {
  description = "Endpoints that the charm provides."
  value = {
    ovsdb                = "ovsdb"
    ovsdb_cms            = "ovsdb-cms"
    ovsdb_server         = "ovsdb-server"
    nrpe_external_master = "nrpe-external-master"
    metrics_endpoint     = "metrics-endpoint"
    cos_agent            = "cos-agent"
  }
}

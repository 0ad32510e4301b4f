variable "model_uuid" {
  description = "UUID of the Juju model to deploy to: juju show-model MODEL."
  type        = string
}

variable "app_name" {
  description = "Name of the application."
  type        = string
  default     = "ovn-central"
}

variable "charm" {
  description = "Name of the charm in the store that the controller asks."
  type        = string
  default     = "ovn-central"
}

variable "channel" {
  description = "Channel of the charm: a track for each OVN release, as 24.03/stable."
  type        = string
}

variable "revision" {
  description = "Revision of the charm; null for the newest of the channel."
  type        = number
  default     = null
}

variable "base" {
  description = "System of the machines: ubuntu@22.04, ubuntu@24.04 or ubuntu@26.04."
  type        = string
  default     = "ubuntu@24.04"
}

variable "units" {
  description = "Number of units: 3, or 5. A database stops where a majority of them is down."
  type        = number
  default     = 3

  validation {
    condition     = var.units % 2 == 1
    error_message = "An even number of units tolerates no more failures than one unit less."
  }
}

variable "config" {
  description = "Options of the charm: docs/reference/config.md."
  type        = map(string)
  default     = {}
}

variable "constraints" {
  description = "Constraints of the machines."
  type        = string
  default     = "arch=amd64"
}

variable "endpoint_bindings" {
  description = "Spaces of the endpoints; the databases listen on that of ovsdb-peer."
  type        = set(object({ space = string, endpoint = optional(string) }))
  default     = null
}
